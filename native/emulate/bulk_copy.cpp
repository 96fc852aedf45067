// Copies by the tensor memory accelerator (PTX ISA, "cp.async.bulk"), made at once: one of the orders that
// the machine allows. A copy is one request: all its sectors of global memory, and its bytes of shared
// memory.

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "emulate/address_pattern.h"
#include "emulate/address_space.h"
#include "emulate/atomic.h"
#include "emulate/barrier_object.h"
#include "emulate/request.h"
#include "emulate/run_time.h"
#include "emulate/tensor_map.h"

namespace warpwatt::emulate {

namespace {

constexpr std::int64_t kBandBytes = 128;  // of shared memory, per cycle

// What one lane asks for: see bulk_copy.
struct Copy {
    std::uint64_t shared, other, bytes, barrier, blocks;
    std::array<std::int32_t, kMostDimensions> at;
};

Copy copy_of(const Machine& machine, int lane) {
    const auto& values = machine.values;
    Copy copy{values[0][lane], values[1][lane], values[2][lane], values[3][lane], values[4][lane], {}};
    for (int axis = 0; axis < kMostDimensions; ++axis)
        copy.at[axis] = static_cast<std::int32_t>(values[5 + axis][lane]);
    return copy;
}

// Makes one copy: finds memory, notes what is touched, moves what somebody looks at.
class Mover {
public:
    Mover(Machine& machine, Warp& warp, std::int32_t row, int lane)
        : machine_(machine),
          warp_(warp),
          request_(machine, warp, row),
          lane_(lane),
          copy_(copy_of(machine, lane)) {}

    void run() {
        const MemoryOperation& operation = request_.operation;
        if (operation.bulk == BulkCopy::kBetweenBlocks)
            between_blocks();
        else if (operation.rank == 0)
            move_row(copy_.other, copy_.bytes, copy_.shared);
        else
            move_box();
        if (failed()) return;
        count();
        const bool told = operation.bulk == BulkCopy::kLoad || operation.bulk == BulkCopy::kBetweenBlocks;
        if (told) for_each_block([&](std::uint64_t mask_rank) { tell(mask_rank); });
    }

private:
    bool failed() const { return machine_.fault.reason != FaultReason::kNone; }
    bool moves() const { return !request_.operation.probe; }

    // Calls with what to add to addresses in shared memory for each block that gets the data.
    template <typename Action>
    void for_each_block(Action&& action) {
        if (copy_.blocks == 0) return action(std::uint64_t{0});
        const std::uint64_t own = rank_bits(copy_.shared);
        for (std::uint64_t rank = 0; rank < 16; ++rank)
            if (copy_.blocks >> rank & 1) action((rank << kClusterRankShift) - own);
    }

    static std::uint64_t rank_bits(std::uint64_t address) {
        return offset_bits(address) >> kClusterRankShift << kClusterRankShift;
    }

    // Host address of a range that must lie within its memory; null and a fault if it does not.
    unsigned char* find(Space space, std::uint64_t address, std::int64_t bytes) {
        const Region region = region_of(machine_, warp_, request_.operation, space, address);
        const auto offset = static_cast<std::int64_t>(offset_bits(address));
        if (offset >= region.begin && offset + bytes <= region.size) {
            if (space == Space::kGlobal && moves()) touch_pages(machine_, slot_bits(address), offset, bytes);
            return region.base + offset;
        }
        if (space == Space::kShared) address = offset | kSharedSlot << kSlotShift;
        machine_.record_fault(warp_, request_.operation.instruction, lane_,
                              region.size != 0 ? FaultReason::kOutOfBounds : FaultReason::kNoMemory, address,
                              bytes);
        return nullptr;
    }

    void between_blocks() {
        const auto bytes = static_cast<std::int64_t>(copy_.bytes);
        const unsigned char* from = find(Space::kShared, copy_.other, bytes);
        unsigned char* to = find(Space::kShared, copy_.shared, bytes);
        if (from != nullptr && to != nullptr && moves()) std::memmove(to, from, bytes);
        shared_bytes_ = bytes;
    }

    // Bytes side by side in both memories.
    void move_row(std::uint64_t global, std::int64_t bytes, std::uint64_t shared) {
        shared_bytes_ += bytes;
        if (bytes == 0) return;
        unsigned char* host = find(Space::kGlobal, global, bytes);
        if (host == nullptr) return;
        touch(global, bytes);
        if (!moves() || request_.operation.bulk == BulkCopy::kPrefetch) return;
        for_each_block([&](std::uint64_t rank) {
            for (std::int64_t at = 0; at < bytes && !failed(); at += 16)
                exchange(shared + rank + at, host + at, std::min<std::int64_t>(16, bytes - at));
        });
    }

    // At most 16 bytes, which no swizzle takes apart.
    void exchange(std::uint64_t shared, unsigned char* global, std::int64_t bytes) {
        unsigned char* place = find(Space::kShared, map_.swizzled(shared), bytes);
        if (place == nullptr) return;
        if (request_.operation.bulk == BulkCopy::kLoad)
            std::memcpy(place, global, bytes);
        else if (request_.operation.bulk == BulkCopy::kStore)
            std::memcpy(global, place, bytes);
        else
            reduce(global, place, bytes);
    }

    void reduce(unsigned char* global, const unsigned char* shared, std::int64_t bytes) {
        const std::int64_t each = request_.operation.element_bytes;
        for (std::int64_t at = 0; at < bytes; at += each) {
            std::uint64_t old = 0, operand = 0;
            std::memcpy(&old, global + at, each);
            std::memcpy(&operand, shared + at, each);
            const std::uint64_t made = atomic_result(request_.operation, old, operand, 0);
            std::memcpy(global + at, &made, each);
        }
    }

    // All rows of a box; of those outside the tensor, and in what lies beyond its end, zeros come.
    void move_box() {
        const Space space = actual_space(Space::kGlobal, copy_.other);
        const Region region = region_of(machine_, warp_, request_.operation, space, copy_.other);
        const auto offset = static_cast<std::int64_t>(offset_bits(copy_.other));
        if (offset < 0 || offset + kTensorMapBytes > region.size) {
            find(Space::kGlobal, copy_.other, kTensorMapBytes);
            return;
        }
        if (space == Space::kGlobal) touch_pages(machine_, slot_bits(copy_.other), offset, kTensorMapBytes);
        map_ = TensorMap::decode(region.base + offset);
        const std::int64_t row_bytes = map_.box[0] * map_.element_bits / 8;
        std::array<std::int64_t, kMostDimensions> at{};
        std::uint64_t shared = copy_.shared;
        do {
            move_row_of_box(at, row_bytes, shared);
            shared += row_bytes;
        } while (!failed() && advance(at));
    }

    bool advance(std::array<std::int64_t, kMostDimensions>& at) const {
        for (int axis = 1; axis < map_.rank; ++axis) {
            if (++at[axis] < map_.box[axis]) return true;
            at[axis] = 0;
        }
        return false;
    }

    void move_row_of_box(const std::array<std::int64_t, kMostDimensions>& at, std::int64_t row_bytes,
                         std::uint64_t shared) {
        std::uint64_t global = map_.address;
        bool inside = true;
        for (int axis = 1; axis < map_.rank; ++axis) {
            const std::int64_t place = copy_.at[axis] + at[axis] * map_.steps[axis];
            inside &= place >= 0 && place < map_.extents[axis];
            global += place * map_.strides[axis];
        }
        const std::int64_t first = std::max<std::int64_t>(0, -std::int64_t{copy_.at[0]});
        const std::int64_t last = std::min(map_.box[0], map_.extents[0] - copy_.at[0]);
        const bool whole = inside && first == 0 && last == map_.box[0];
        if (!whole && request_.operation.bulk == BulkCopy::kLoad) clear(shared, row_bytes);
        if (!inside || last <= first) {
            shared_bytes_ += row_bytes;
            return;
        }
        const std::int64_t before = first * map_.element_bits / 8;
        const std::int64_t bytes = (last - first) * map_.element_bits / 8;
        move_row(global + (copy_.at[0] + first) * map_.element_bits / 8, bytes, shared + before);
        shared_bytes_ += row_bytes - bytes;
    }

    void clear(std::uint64_t shared, std::int64_t bytes) {
        if (!moves()) return;
        for_each_block([&](std::uint64_t rank) {
            for (std::int64_t at = 0; at < bytes && !failed(); at += 16) {
                const std::int64_t size = std::min<std::int64_t>(16, bytes - at);
                unsigned char* place = find(Space::kShared, map_.swizzled(shared + rank + at), size);
                if (place != nullptr) std::memset(place, 0, size);
            }
        });
    }

    // Whether a box is loaded for a pair of blocks, so that the address of the barrier object says which of
    // the pair is told.
    bool for_pair() const { return request_.operation.rank != 0 && copy_.bytes == 1; }

    // Where the barrier object is that the arrival of bytes in a block tells.
    std::uint64_t told_by(std::uint64_t rank) const {
        if (!for_pair() || copy_.blocks == 0) return copy_.barrier + rank;
        constexpr std::uint64_t kSecond = std::uint64_t{1} << kClusterRankShift;
        const std::uint64_t of_pair = rank_bits(copy_.shared + rank) & ~kSecond;
        const std::uint64_t own_bits = rank_bits(copy_.barrier);
        return copy_.barrier - own_bits + (of_pair | (own_bits & kSecond));
    }

    // Tells a block's barrier object that the bytes have come.
    void tell(std::uint64_t rank) {
        unsigned char* place = find(Space::kShared, told_by(rank), sizeof(std::uint64_t));
        if (place == nullptr) return;
        std::uint64_t word;
        std::memcpy(&word, place, sizeof word);
        word = complete_bytes(word, shared_bytes_);
        std::memcpy(place, &word, sizeof word);
    }

    void touch(std::uint64_t address, std::int64_t bytes) {
        const std::uint64_t last = (address + bytes - 1) >> kSectorShift;
        for (std::uint64_t sector = address >> kSectorShift; sector <= last; ++sector) {
            const std::uint64_t line = sector << kSectorShift >> kLineShift << kLineShift;
            const std::uint64_t bit = std::uint64_t{1} << (sector & ((1 << (kLineShift - kSectorShift)) - 1));
            if (!touched_.empty() && touched_.back() >> kLineShift << kLineShift == line)
                touched_.back() |= bit;
            else
                touched_.push_back(line | bit);
        }
    }

    void count() {
        const bool global = request_.operation.bulk != BulkCopy::kBetweenBlocks;
        RequestCounters& sums = request_.counters_of(global ? Space::kGlobal : Space::kShared);
        const std::uint64_t reached = touched_.empty() ? 0 : touched_.front();
        sums.add_request(lane_bit(lane_), kVaries, global ? slot_bits(reached) : kSharedSlot);
        std::int64_t sectors = 0;
        for (const std::uint64_t line : touched_) sectors += std::popcount(line & 15);
        sums.sectors += sectors;
        sums.lines += static_cast<std::int64_t>(touched_.size());
        sums.ideal += std::max<std::int64_t>(1, (shared_bytes_ + 31) / 32);
        const std::int64_t passes = (shared_bytes_ + kBandBytes - 1) / kBandBytes;
        if (!global) sums.wavefronts += passes;
        if (!machine_.trace.enabled) return;
        const bool told = request_.operation.bulk == BulkCopy::kLoad || !global;
        machine_.trace.record_request(
            warp_, request_.operation.instruction, lane_bit(lane_), static_cast<int>(passes), touched_.data(),
            static_cast<std::int64_t>(touched_.size()), told ? event() : BarrierEvent{});
    }

    BarrierEvent event() const {
        const int blocks = copy_.blocks == 0 ? 1 : std::popcount(copy_.blocks);
        return {static_cast<std::uint32_t>(copy_.barrier), blocks * shared_bytes_};
    }

    Machine& machine_;
    Warp& warp_;
    const Request request_;
    const int lane_;
    const Copy copy_;
    TensorMap map_{};
    std::int64_t shared_bytes_ = 0;
    std::vector<std::uint64_t> touched_;  // lines as a trace has them
};

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void bulk_copy(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    for_each_lane(lanes, [&](int lane) {
        if (machine->fault.reason == FaultReason::kNone) Mover(*machine, *warp, row, lane).run();
    });
}
