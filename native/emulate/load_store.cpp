// Loads and stores of a warp, checked and counted. Nothing is done once the run has met a fault.
//
// Values lie as vectors of 32 lanes, one after the other for each element; in memory the elements of a lane
// are side by side.

#include <array>
#include <bit>
#include <cstring>

#include "emulate/address_space.h"
#include "emulate/direct_access.h"
#include "emulate/element_size.h"
#include "emulate/request.h"
#include "emulate/resolved_lanes.h"
#include "emulate/run_time.h"
#include "vectors.h"

namespace warpwatt::emulate {

namespace {

enum class Direction { kLoad, kStore };

template <std::size_t kBytes>
void move_element(Direction direction, unsigned char* value, unsigned char* memory) {
    if (direction == Direction::kLoad)
        std::memcpy(value, memory, kBytes);
    else
        std::memcpy(memory, value, kBytes);
}

// Moves one lane's elements after the other; of lanes that store to one address the last prevails.
template <std::size_t kBytes>
void move_lanes(Direction direction, const ResolvedLanes& resolved, LaneMask lanes, int count,
                unsigned char* values) {
    for (int element = 0; element < count; ++element)
        for_each_lane(lanes, [&](int lane) {
            move_element<kBytes>(direction, values + (element * kLanes + lane) * kBytes,
                                 resolved.hosts[lane] + element * kBytes);
        });
}

// Moves all lanes' elements, which lie side by side in memory.
template <std::size_t kBytes>
void move_contiguous(Direction direction, unsigned char* memory, int count, unsigned char* values) {
    if (count == 1) return move_element<kBytes * kLanes>(direction, values, memory);
    for (int element = 0; element < count; ++element)
        for (int lane = 0; lane < kLanes; ++lane)
            move_element<kBytes>(direction, values + (element * kLanes + lane) * kBytes,
                                 memory + (lane * count + element) * kBytes);
}

// Whether all lanes' accesses lie side by side.
bool are_contiguous(const std::array<std::uint64_t, kLanes>& addresses, std::uint64_t bytes) {
    if (addresses[kLanes - 1] - addresses[0] != (kLanes - 1) * bytes) return false;  // as most that are not
    std::uint64_t wrong = 0;
    for (int lane = 0; lane < kLanes; ++lane) wrong |= addresses[lane] - addresses[0] - lane * bytes;
    return wrong == 0;
}

// Counts an access of all lanes side by side and returns its host address; null if it is none, or at fault.
unsigned char* contiguous_host(const Request& request) {
    Machine& machine = request.machine;
    const std::int64_t bytes = request.operation.bytes;
    const std::uint64_t first = machine.addresses[0];
    const auto offset = static_cast<std::int64_t>(offset_bits(first));
    if (!are_contiguous(machine.addresses, bytes)) return nullptr;
    const Space space = actual_space(request.operation.space, first);
    if ((space != Space::kGlobal && space != Space::kShared) || (bytes & (bytes - 1))) return nullptr;
    const Region region = region_of(machine, request.warp, request.operation, space, first);
    if (offset < region.begin || offset + kLanes * bytes > region.size || offset & (bytes - 1))
        return nullptr;
    if (space == Space::kGlobal && !request.operation.probe)
        touch_pages(machine, slot_bits(first), offset, kLanes * bytes);
    count_contiguous(request, space, first);
    return region.base + offset;
}

// Whether all lanes' accesses are one.
WARPWATT_WIDE_VECTORS bool are_one(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes) {
    const std::uint64_t first = addresses[first_lane(lanes)];
    if (addresses[kLanes - 1 - std::countl_zero(lanes)] != first) return false;
    std::uint64_t wrong = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t on = -static_cast<std::uint64_t>(lanes >> lane & 1);
        wrong |= (addresses[lane] ^ first) & on;
    }
    return wrong == 0;
}

// Checks and counts a load of one address by all lanes, not from local memory; returns where it lies on the
// host, null if it is at fault.
const unsigned char* load_one(const Request& request, Space space, LaneMask lanes, std::uint64_t address) {
    const auto& [machine, warp, operation, _] = request;
    const Region region = region_of(machine, warp, operation, space, address);
    const unsigned char* host =
        host_address(machine, warp, operation, space, region, first_lane(lanes), address);
    if (host == nullptr) return nullptr;
    check_shared(machine, warp, operation, lanes, Touch::kRead);
    count_uniform(request, space, lanes, address);
    return host;
}

// Gives all lanes the elements at one address.
template <std::size_t kBytes>
void spread(const unsigned char* memory, LaneMask lanes, int count, unsigned char* values) {
    std::array<unsigned char, kBytes> value;
    for (int element = 0; element < count; ++element) {
        std::memcpy(value.data(), memory + element * kBytes, kBytes);
        unsigned char* to = values + element * kLanes * kBytes;
        const auto give = [&](int lane) { std::memcpy(to + lane * kBytes, value.data(), kBytes); };
        if (lanes != kAllLanes)
            for_each_lane(lanes, give);
        else
            for (int lane = 0; lane < kLanes; ++lane) give(lane);  // as whole vectors
    }
}

// Loads one address for all lanes, whether they do.
bool load_together(const Request& request, LaneMask lanes) {
    const MemoryOperation& operation = request.operation;
    const std::uint64_t first = request.machine.addresses[first_lane(lanes)];
    const Space space = actual_space(operation.space, first);
    if (space != Space::kGlobal && space != Space::kShared) return false;
    if (operation.atomic != AtomicOperation::kNone || !are_one(request.machine.addresses, lanes))
        return false;
    const unsigned char* host = load_one(request, space, lanes, first);
    if (host != nullptr && !operation.probe)
        with_element_size(operation.element_bytes, [&]<std::size_t kBytes>() {
            spread<kBytes>(host, lanes, operation.count, request.machine.value_bytes());
        });
    return true;
}

void move(const Request& request, LaneMask lanes, Direction direction) {
    if (direction == Direction::kLoad && load_together(request, lanes)) return;
    const MemoryOperation& operation = request.operation;
    unsigned char* values = request.machine.value_bytes();
    const Touch touch = direction == Direction::kLoad ? Touch::kRead : Touch::kWrite;
    if (unsigned char* memory = lanes == kAllLanes ? contiguous_host(request) : nullptr) {
        check_shared(request.machine, request.warp, operation, lanes, touch);
        if (operation.probe) return;
        return with_element_size(operation.element_bytes, [&]<std::size_t kBytes>() {
            move_contiguous<kBytes>(direction, memory, operation.count, values);
        });
    }
    ResolvedLanes resolved;
    const Use use = direction == Direction::kLoad ? Use::kRead : Use::kChange;
    if (!resolve_lanes(request, lanes, use, resolved)) return;
    check_shared(request.machine, request.warp, operation, lanes, touch);
    if (!operation.probe)
        with_element_size(operation.element_bytes, [&]<std::size_t kBytes>() {
            move_lanes<kBytes>(direction, resolved, lanes, operation.count, values);
        });
    count_lanes(request, lanes, resolved.by_space);
}

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void load_lanes(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    if (machine->code.ranges != nullptr) return load_lanes_directly(machine, warp, row, lanes);
    const Request request(*machine, *warp, row);
    if (lanes != kAllLanes && !request.operation.probe)
        std::memset(machine->value_bytes(), 0, request.operation.bytes * kLanes);
    if (lanes != 0 && machine->fault.reason == FaultReason::kNone) move(request, lanes, Direction::kLoad);
}

void store_lanes(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    if (machine->code.ranges != nullptr) return store_lanes_directly(machine, warp, row, lanes);
    if (lanes != 0 && machine->fault.reason == FaultReason::kNone)
        move(Request(*machine, *warp, row), lanes, Direction::kStore);
}

void load_uniform(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes, std::uint64_t address) {
    if (machine->code.ranges != nullptr) return load_uniform_directly(machine, warp, row, lanes, address);
    const Request request(*machine, *warp, row);
    const MemoryOperation& operation = request.operation;
    if (lanes == 0 || machine->fault.reason != FaultReason::kNone) {
        std::memset(machine->value_bytes(), 0, operation.bytes);
        return;
    }
    machine->addresses.fill(address);
    const Space space = actual_space(operation.space, address);
    const unsigned char* host = load_one(request, space, lanes, address);
    if (host != nullptr && !operation.probe) std::memcpy(machine->value_bytes(), host, operation.bytes);
}
