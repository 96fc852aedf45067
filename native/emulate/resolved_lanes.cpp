#include "emulate/resolved_lanes.h"

#include <algorithm>

#include "emulate/address_space.h"
#include "emulate/random_fill.h"
#include "vectors.h"

namespace warpwatt::emulate {

namespace {

// What the addresses of lanes that are on have in common: the bits in which one differs from the first, the
// bits that any has, the highest offset.
struct Extent {
    std::uint64_t differences, bits, highest;
};

WARPWATT_WIDE_VECTORS Extent extent_of(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes) {
    const std::uint64_t first = addresses[first_lane(lanes)];
    Extent found{};
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t on = -static_cast<std::uint64_t>(lanes >> lane & 1);
        const std::uint64_t address = (addresses[lane] & on) | (first & ~on);
        found.differences |= address ^ first;
        found.bits |= address;
        found.highest = std::max(found.highest, offset_bits(address));
    }
    return found;
}

// Reads what a lane reads of a page that was seldom read before; whether that is so.
bool read_part(Machine& machine, std::uint64_t address, std::int64_t bytes, unsigned char* to) {
    const std::int64_t slot = slot_bits(address), offset = offset_bits(address);
    unsigned char& flag = machine.global.page_flags[slot][offset >> kPageShift];
    if (flag == kMade || flag >= kReadOften || !fill_part(machine.global, slot, offset, bytes, to))
        return false;
    flag = std::max<unsigned char>(flag, kMade) + 1;
    return true;
}

// Makes the pages that lanes reach, none of which lies on two, or reads what they read of these.
void touch_pages_of(Machine& machine, LaneMask lanes, std::int64_t bytes, Use use, ResolvedLanes& found) {
    std::uint64_t last = ~std::uint64_t{0};
    for_each_lane(lanes, [&](int lane) {
        const std::uint64_t address = machine.addresses[lane];
        if (address >> kPageShift == last) return;
        if (use == Use::kRead && read_part(machine, address, bytes, found.read[lane].data())) {
            found.hosts[lane] = found.read[lane].data();
            return;
        }
        last = address >> kPageShift;
        touch_pages(machine, slot_bits(address), offset_bits(address), bytes);
    });
}

// Resolves lanes that all reach one region and are not at fault, as nearly always; whether that is so.
bool resolve_together(const Request& request, LaneMask lanes, Use use, ResolvedLanes& found) {
    const auto& addresses = request.machine.addresses;
    const std::uint64_t first = addresses[first_lane(lanes)], bytes = request.operation.bytes;
    const Space space = actual_space(request.operation.space, first);
    const Region region = region_of(request.machine, request.warp, request.operation, space, first);
    const auto [differences, bits, highest] = extent_of(addresses, lanes);
    if (slot_bits(differences) != 0 || (bytes & (bytes - 1)) != 0 || (bits & (bytes - 1)) != 0) return false;
    if (space == Space::kShared && offset_bits(differences) >> kClusterRankShift != 0) return false;
    if (static_cast<std::int64_t>(highest + bytes) > region.size) return false;
    found.by_space[static_cast<int>(space)] = lanes;
    if (request.operation.probe) return true;
    const std::int64_t stride = space == Space::kLocal ? request.machine.residents.local_stride : 0;
    for (int lane = 0; lane < kLanes; ++lane)
        found.hosts[lane] = region.base + offset_bits(addresses[lane]) + lane * stride;
    if (space == Space::kGlobal && request.machine.global.page_flags[slot_bits(first)] != nullptr)
        touch_pages_of(request.machine, lanes, request.operation.bytes, use, found);
    return true;
}

// Resolves one lane after the other; whether none is at fault.
bool resolve_one_by_one(const Request& request, LaneMask lanes, ResolvedLanes& found) {
    std::int64_t slot = -1;  // whose region is known
    Space space{};
    Region region{};
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = first_lane(lanes);
        const std::uint64_t address = request.machine.addresses[lane];
        if (slot_bits(address) != slot || space == Space::kShared) {
            slot = slot_bits(address);
            space = actual_space(request.operation.space, address);
            region = region_of(request.machine, request.warp, request.operation, space, address);
        }
        found.hosts[lane] =
            host_address(request.machine, request.warp, request.operation, space, region, lane, address);
        if (found.hosts[lane] == nullptr) return false;
        found.by_space[static_cast<int>(space)] |= lane_bit(lane);
    }
    return true;
}

}  // namespace

bool resolve_lanes(const Request& request, LaneMask lanes, Use use, ResolvedLanes& found) {
    found.by_space = {};
    return resolve_together(request, lanes, use, found) || resolve_one_by_one(request, lanes, found);
}

}  // namespace warpwatt::emulate
