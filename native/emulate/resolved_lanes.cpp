#include "emulate/resolved_lanes.h"

#include <algorithm>

#include "emulate/address_space.h"

namespace warpwatt::emulate {

namespace {

// Resolves lanes that all reach one region and are not at fault, as nearly always; whether that is so.
bool resolve_together(const Request& request, LaneMask lanes, ResolvedLanes& found) {
    const auto& addresses = request.machine.addresses;
    const std::uint64_t first = addresses[first_lane(lanes)], bytes = request.operation.bytes;
    const Space space = actual_space(request.operation.space, first);
    const Region region = region_of(request.machine, request.warp, request.operation, space, first);
    std::uint64_t differences = 0, bits = 0, highest = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t address = has_lane(lanes, lane) ? addresses[lane] : first;
        differences |= address ^ first;
        bits |= address;
        highest = std::max(highest, offset_bits(address));
    }
    if (slot_bits(differences) != 0 || (bytes & (bytes - 1)) != 0 || (bits & (bytes - 1)) != 0) return false;
    if (space == Space::kShared && offset_bits(differences) >> kClusterRankShift != 0) return false;
    if (static_cast<std::int64_t>(highest + bytes) > region.size) return false;
    if (space == Space::kGlobal && !request.operation.probe &&
        request.machine.global.page_flags[slot_bits(first)])
        for_each_lane(lanes, [&](int lane) {
            touch_pages(request.machine, slot_bits(first), offset_bits(addresses[lane]), bytes);
        });
    const std::int64_t stride = space == Space::kLocal ? request.machine.residents.local_stride : 0;
    for_each_lane(lanes, [&](int lane) {
        found.hosts[lane] = region.base + offset_bits(addresses[lane]) + lane * stride;
    });
    found.by_space[static_cast<int>(space)] = lanes;
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

std::optional<ResolvedLanes> resolve_lanes(const Request& request, LaneMask lanes) {
    std::optional<ResolvedLanes> found(std::in_place);
    found->by_space = {};
    if (!resolve_together(request, lanes, *found) && !resolve_one_by_one(request, lanes, *found))
        found.reset();
    return found;
}

}  // namespace warpwatt::emulate
