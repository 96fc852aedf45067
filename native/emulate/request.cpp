#include "emulate/request.h"

#include <algorithm>

#include "emulate/address_pattern.h"
#include "emulate/address_space.h"
#include "emulate/distinct_numbers.h"
#include "emulate/request_shape.h"
#include "emulate/shared_banks.h"

namespace warpwatt::emulate {

namespace {

constexpr std::int64_t kSectorBytes = 1 << kSectorShift, kLineBytes = 1 << kLineShift;
constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kWidest = 16;  // bytes per lane from which on even a broadcast takes two wavefronts

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t blocks_between(std::uint64_t first, std::uint64_t last, int shift) {
    return static_cast<std::int64_t>((last >> shift) - (first >> shift)) + 1;
}

bool on_barrier_object(AtomicOperation how) {
    return how == AtomicOperation::kBarrierObject || how == AtomicOperation::kNewBarrierObject;
}

BarrierEvent event_of(const Request& request, LaneMask lanes) {
    if (!on_barrier_object(request.operation.atomic)) return {};
    const int first = first_lane(lanes);
    std::int64_t change = 0;
    for_each_lane(lanes,
                  [&](int lane) { change += static_cast<std::int64_t>(request.machine.values[0][lane]); });
    if (request.operation.atomic == AtomicOperation::kNewBarrierObject)
        change = static_cast<std::int64_t>(request.machine.values[0][first]);
    if (change == 0) change = request.warp.waits_for[first] & 1;
    return {static_cast<std::uint32_t>(request.machine.addresses[first]), change};
}

void record(const Request& request, LaneMask lanes, int passes, const TouchedLines& touched) {
    Trace& trace = request.machine.trace;
    if (!trace.enabled) return;
    trace.record_request(request.warp, request.operation.instruction, lanes, passes, touched,
                         event_of(request, lanes));
}

// Looks a constant up in the caches.
void read_constant(const Request& request, std::uint64_t address, RequestCounters& sums) {
    constexpr int kBankShift = 16;  // a bank holds at most 64 KiB
    const auto place = static_cast<std::uint32_t>(bank_of(request.operation, address) << kBankShift |
                                                  (address & ((1 << kBankShift) - 1)));
    const int misses = request.warp.constants.use(place >> kConstantLineShift);
    sums.constant_misses += misses;
    if (misses > 0)
        sums.constant_far_misses += request.machine.l15_constants.use(place >> kFarConstantLineShift);
}

// Counts lanes with one address; returns the wavefronts.
int count_one_address(const Request& request, Space space, LaneMask lanes, std::uint64_t address,
                      TouchedLines& touched) {
    const std::int64_t bytes = request.operation.bytes;
    RequestCounters& sums = request.counters_of(space);
    const bool neighbours = lanes & lanes >> 1;
    sums.add_request(lanes, neighbours ? 0 : kNoNeighbours, slot_of(request.operation, space, address));
    ++sums.uniform;
    const int passes = bytes >= kWidest ? wavefronts_of_one(lanes, bytes) : 1;
    if (space == Space::kGlobal) {
        const std::int64_t sectors = divide_up(bytes, kSectorBytes);
        sums.sectors += sectors;
        sums.ideal += sectors;
        ++sums.lines;
        sums.l1_passes += passes;
        touched.add(address, bytes);
    } else if (space == Space::kShared) {
        sums.wavefronts += passes;
        sums.ideal += std::min(passes, 2);
        return passes;
    } else if (space == Space::kConstant) {
        ++sums.wavefronts;
        read_constant(request, address, sums);
    }
    return 0;
}

// The slot that all lanes reach in a space.
std::int64_t common_slot(const Request& request, Space space, LaneMask lanes) {
    const auto& addresses = request.machine.addresses;
    const std::int64_t slot = slot_of(request.operation, space, addresses[first_lane(lanes)]);
    if (space == Space::kShared || space == Space::kLocal) return slot;
    std::uint64_t differences = 0;
    for_each_lane(lanes, [&](int lane) { differences |= addresses[lane] ^ addresses[first_lane(lanes)]; });
    return slot_bits(differences) == 0 ? slot : kSeveralSlots;
}

// The lines of local memory, which lies interleaved for all warps of the grid in a slot of its own.
void touch_local(const Request& request, LaneMask lanes, TouchedLines& touched) {
    const std::uint64_t warp_bytes = request.machine.residents.local_bytes * kLanes;
    const std::uint64_t base = (kLocalSlot << kSlotShift) + request.warp.index_in_grid * warp_bytes;
    const std::int64_t word_bytes = std::min<std::int64_t>(request.operation.bytes, kWordBytes);
    for (std::int64_t offset = 0; offset < request.operation.bytes; offset += kWordBytes)
        for_each_lane(lanes, [&](int lane) {
            touched.add(base + interleaved(request.machine.addresses[lane] + offset, lane), word_bytes);
        });
}

void count_off_chip(RequestCounters& sums, const TouchedLines& touched, std::int64_t useful_bytes,
                    int data_passes) {
    sums.ideal += std::max<std::int64_t>(1, divide_up(useful_bytes, kSectorBytes));
    sums.l1_passes += std::max(touched.tag_passes(), data_passes);
    sums.lines += touched.size();
    sums.sectors += touched.sectors();
}

// Counts lanes of local memory or of a constant bank.
void count_apart(const Request& request, Space space, LaneMask lanes, TouchedLines& touched) {
    const auto& addresses = request.machine.addresses;
    const AddressPattern pattern = pattern_of(addresses, lanes);
    RequestCounters& sums = request.counters_of(space);
    sums.add_request(lanes, pattern.stride, common_slot(request, space, lanes));
    sums.uniform += pattern.uniform();
    if (request.operation.atomic != AtomicOperation::kNone)
        sums.collisions += most_on_one_address(addresses, lanes, pattern);
    if (space == Space::kConstant) {
        DistinctNumbers<kLanes> distinct;
        for_each_lane(lanes, [&](int lane) {
            if (!distinct.insert(addresses[lane])) return;
            ++sums.wavefronts;
            read_constant(request, addresses[lane], sums);
        });
        return;
    }
    touch_local(request, lanes, touched);
    count_off_chip(sums, touched, lane_count(lanes) * request.operation.bytes,
                   1);  // lanes lie in banks apart
}

// Counts the lanes that are in one space; returns the wavefronts.
int count_in_space(const Request& request, Space space, LaneMask lanes, TouchedLines& touched) {
    if (space == Space::kLocal || space == Space::kConstant) {
        count_apart(request, space, lanes, touched);
        return 0;
    }
    const auto& addresses = request.machine.addresses;
    const std::int64_t bytes = request.operation.bytes;
    const bool atomic = request.operation.atomic != AtomicOperation::kNone;
    const std::uint64_t first = addresses[first_lane(lanes)];
    const RequestShape shape =
        shape_of(addresses, lanes, bytes, space, request.operation.instruction, touched);
    if (shape.pattern.uniform() && !atomic) return count_one_address(request, space, lanes, first, touched);
    const bool together =
        space == Space::kShared || slot_bits(first + shape.lowest) == slot_bits(first + shape.highest);
    RequestCounters& sums = request.counters_of(space);
    sums.add_request(lanes, shape.pattern.stride,
                     together ? slot_of(request.operation, space, first) : kSeveralSlots);
    sums.uniform += shape.pattern.uniform();
    if (atomic && !on_barrier_object(request.operation.atomic))
        sums.collisions += most_on_one_address(addresses, lanes, shape.pattern);
    if (space == Space::kGlobal) {
        count_off_chip(sums, touched, shape.distinct * bytes, shape.wavefronts);
        return 0;
    }
    const std::int64_t fewest =
        std::max<std::int64_t>(bytes >= kWidest ? 2 : 1, divide_up(shape.distinct * bytes, kLineBytes));
    sums.wavefronts += shape.wavefronts;
    sums.ideal += std::min<std::int64_t>(shape.wavefronts, fewest);
    return shape.wavefronts;
}

}  // namespace

void count_contiguous(const Request& request, Space space, std::uint64_t first) {
    const std::int64_t bytes = request.operation.bytes;
    RequestCounters& sums = request.counters_of(space);
    sums.add_request(kAllLanes, bytes, slot_of(request.operation, space, first));
    TouchedLines touched;
    int passes = 0;
    if (space == Space::kGlobal) {
        const std::uint64_t last = first + kLanes * bytes - 1;
        const std::int64_t lines = blocks_between(first, last, kLineShift);
        sums.sectors += blocks_between(first, last, kSectorShift);
        sums.lines += lines;
        sums.l1_passes += std::max(divide_up(lines, kTagBanks), divide_up(bytes, kWordBytes));
        sums.ideal += bytes;  // 32 lanes × bytes / 32 bytes of a sector
        if (request.machine.trace.enabled) touched.add(first, kLanes * bytes);
    } else {
        const int fewest = std::max(1, static_cast<int>(bytes / kWordBytes));
        passes = first % kWordBytes == 0 ? fewest : wavefronts(request.machine.addresses, kAllLanes, bytes);
        sums.wavefronts += passes;
        sums.ideal += fewest;
    }
    record(request, kAllLanes, passes, touched);
}

void count_uniform(const Request& request, Space space, LaneMask lanes, std::uint64_t address) {
    TouchedLines touched;
    record(request, lanes, count_one_address(request, space, lanes, address, touched), touched);
}

void count_lanes(const Request& request, LaneMask lanes, const LanesBySpace& by_space) {
    TouchedLines all;
    int passes = 0;
    for (int space = 0; space < kSpaces; ++space) {
        if (by_space[space] == 0) continue;
        TouchedLines touched;
        const int own = count_in_space(request, static_cast<Space>(space), by_space[space], touched);
        if (by_space[space] == lanes) return record(request, lanes, own, touched);
        passes = std::max(passes, own);
        all.add(touched);
    }
    record(request, lanes, passes, all);
}

}  // namespace warpwatt::emulate
