#include "emulate/direct_access.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "emulate/address_space.h"
#include "emulate/atomic.h"
#include "emulate/element_size.h"

namespace warpwatt::emulate {

namespace {

// Host addresses of a request's lanes; some may lie in shared memory.
struct Hosts {
    std::array<unsigned char*, kLanes> lanes;
    LaneMask shared = 0;
};

// Whether an address is held to the bounds of allocations.
bool in_arena(const Machine& machine, Space space, std::uint64_t address) {
    return space == Space::kGlobal && slot_bits(address) == kArenaSlot && machine.global.allocation_count;
}

// The allocation that an address lies in; of no bytes if there is none.
Range allocation_around(const Machine& machine, Region arena, std::uint64_t address) {
    const GlobalMemory& memory = machine.global;
    const std::uint64_t* starts = memory.allocation_starts;
    const auto row = std::upper_bound(starts, starts + memory.allocation_count, address) - starts - 1;
    if (row < 0 || address >= memory.allocation_ends[row]) return {};
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(arena.base) - (address & ~kOffsetMask);
    return {starts[row], static_cast<std::int64_t>(memory.allocation_ends[row] - starts[row]), distance};
}

// The range around an address that an operation reaches for the first time or again after others; of no bytes
// where addresses must be looked up one by one.
Range range_around(const Machine& machine, const Warp& warp, const MemoryOperation& operation,
                   std::uint64_t address) {
    const Space space = actual_space(operation.space, address);
    const Region region = region_of(machine, warp, operation, space, address);
    if (region.size <= 0) return {};
    if (space == Space::kGlobal && machine.global.page_flags[slot_bits(address)] != nullptr) return {};
    if (in_arena(machine, space, address)) return allocation_around(machine, region, address);
    const std::uint64_t start = address & ~kOffsetMask;
    return {start + region.begin, region.size - region.begin,
            reinterpret_cast<std::uint64_t>(region.base) - start};
}

// Whether all lanes lie in a range, aligned; their host addresses.
bool resolve_in(const Range& range, const Machine& machine, const MemoryOperation& operation, Space space,
                LaneMask lanes, Hosts& hosts) {
    const auto bytes = static_cast<std::uint64_t>(operation.bytes);
    if (range.bytes < operation.bytes || (bytes & (bytes - 1)) != 0) return false;
    const std::uint64_t limit = static_cast<std::uint64_t>(range.bytes) - bytes;
    const std::uint64_t stride = space == Space::kLocal ? machine.residents.local_stride : 0;
    std::uint64_t wrong = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t address = machine.addresses[lane];
        const bool outside = (address - range.start > limit) | ((address & (bytes - 1)) != 0);
        wrong |= std::uint64_t{outside} << lane;
        hosts.lanes[lane] = reinterpret_cast<unsigned char*>(address + range.distance + lane * stride);
    }
    hosts.shared = space == Space::kShared ? lanes : 0;
    return (wrong & lanes) == 0;
}

// Where one lane's access lies on the host; null and a fault if it is not allowed.
unsigned char* resolve_one(Machine& machine, Warp& warp, const MemoryOperation& operation, int lane,
                           LaneMask& shared) {
    const std::uint64_t address = machine.addresses[lane];
    const Space space = actual_space(operation.space, address);
    const Region region = region_of(machine, warp, operation, space, address);
    if (space == Space::kShared) shared |= lane_bit(lane);
    if (!in_arena(machine, space, address))
        return host_address(machine, warp, operation, space, region, lane, address);
    const Range range = allocation_around(machine, region, address);
    const bool misaligned = (address % operation.bytes) != 0;
    const bool outside = address - range.start + operation.bytes > static_cast<std::uint64_t>(range.bytes);
    if (!misaligned && !outside) return reinterpret_cast<unsigned char*>(address + range.distance);
    const FaultReason reason = misaligned         ? FaultReason::kMisaligned
                               : range.bytes != 0 ? FaultReason::kOutOfBounds
                                                  : FaultReason::kNoMemory;
    machine.record_fault(warp, operation.instruction, lane, reason, address, operation.bytes);
    return nullptr;
}

// Whether no lane is at fault. Remembers where in global memory the operation went.
bool resolve(Machine& machine, Warp& warp, std::int32_t row, LaneMask lanes, Hosts& hosts) {
    const MemoryOperation& operation = machine.code.operations[row];
    Range& last = machine.code.ranges[row];
    if (resolve_in(last, machine, operation, Space::kGlobal, lanes, hosts)) return true;
    const std::uint64_t first = machine.addresses[first_lane(lanes)];
    const Space space = actual_space(operation.space, first);
    const Range range = range_around(machine, warp, operation, first);
    if (space == Space::kGlobal) last = range;
    if (resolve_in(range, machine, operation, space, lanes, hosts)) return true;
    hosts.shared = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = first_lane(lanes);
        hosts.lanes[lane] = resolve_one(machine, warp, operation, lane, hosts.shared);
        if (hosts.lanes[lane] == nullptr) return false;
    }
    return true;
}

template <std::size_t kBytes, typename Word>
void modify_atomically(const MemoryOperation& operation, unsigned char* host, std::uint64_t& old,
                       std::uint64_t operand, std::uint64_t second_operand) {
    std::atomic_ref<Word> word(*reinterpret_cast<Word*>(host));
    Word seen = word.load();
    while (!word.compare_exchange_weak(
        seen, static_cast<Word>(atomic_result(operation, seen, operand, second_operand)))) {
    }
    old = seen;
}

template <std::size_t kBytes>
void modify(const MemoryOperation& operation, unsigned char* host, bool shared, std::uint64_t& old,
            std::uint64_t operand, std::uint64_t second_operand) {
    if (shared) {
        old = 0;
        std::memcpy(&old, host, kBytes);
        const std::uint64_t made = atomic_result(operation, old, operand, second_operand);
        std::memcpy(host, &made, kBytes);
    } else if constexpr (kBytes == 1) {
        modify_atomically<kBytes, std::uint8_t>(operation, host, old, operand, second_operand);
    } else if constexpr (kBytes == 2) {
        modify_atomically<kBytes, std::uint16_t>(operation, host, old, operand, second_operand);
    } else if constexpr (kBytes == 4) {
        modify_atomically<kBytes, std::uint32_t>(operation, host, old, operand, second_operand);
    } else {
        modify_atomically<kBytes, std::uint64_t>(operation, host, old, operand, second_operand);
    }
}

bool nothing_to_do(const Machine& machine, LaneMask lanes) {
    return lanes == 0 || machine.fault.reason != FaultReason::kNone;
}

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void load_lanes_directly(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    const MemoryOperation& operation = machine->code.operations[row];
    unsigned char* values = machine->value_bytes();
    if (lanes != kAllLanes) std::memset(values, 0, operation.bytes * kLanes);
    Hosts hosts;
    if (nothing_to_do(*machine, lanes) || !resolve(*machine, *warp, row, lanes, hosts)) return;
    with_element_size(operation.element_bytes, [&]<std::size_t kBytes>() {
        for (int element = 0; element < operation.count; ++element)
            for_each_lane(lanes, [&](int lane) {
                std::memcpy(values + (element * kLanes + lane) * kBytes, hosts.lanes[lane] + element * kBytes,
                            kBytes);
            });
    });
}

void load_uniform_directly(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes,
                           std::uint64_t address) {
    const std::size_t bytes = machine->code.operations[row].bytes;
    machine->addresses.fill(address);
    Hosts hosts;
    const LaneMask one = lanes & -lanes;
    if (nothing_to_do(*machine, lanes) || !resolve(*machine, *warp, row, one, hosts))
        std::memset(machine->value_bytes(), 0, bytes);
    else
        std::memcpy(machine->value_bytes(), hosts.lanes[first_lane(one)], bytes);
}

void store_lanes_directly(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    const MemoryOperation& operation = machine->code.operations[row];
    const unsigned char* values = machine->value_bytes();
    Hosts hosts;
    if (nothing_to_do(*machine, lanes) || !resolve(*machine, *warp, row, lanes, hosts)) return;
    with_element_size(operation.element_bytes, [&]<std::size_t kBytes>() {
        for (int element = 0; element < operation.count; ++element)
            for_each_lane(lanes, [&](int lane) {
                std::memcpy(hosts.lanes[lane] + element * kBytes, values + (element * kLanes + lane) * kBytes,
                            kBytes);
            });
    });
}

void atomic_lanes_directly(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    machine->old_values = {};
    Hosts hosts;
    if (nothing_to_do(*machine, lanes) || !resolve(*machine, *warp, row, lanes, hosts)) return;
    const MemoryOperation& operation = machine->code.operations[row];
    with_element_size(operation.element_bytes, [&]<std::size_t kBytes>() {
        for_each_lane(lanes, [&](int lane) {
            modify<kBytes>(operation, hosts.lanes[lane], has_lane(hosts.shared, lane),
                           machine->old_values[lane], machine->values[0][lane], machine->values[1][lane]);
        });
    });
}
