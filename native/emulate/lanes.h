// Sets of the lanes of a warp as bits, lane 0 lowest.
#pragma once

#include <bit>
#include <cstdint>

namespace warpwatt::emulate {

inline constexpr int kLanes = 32;

using LaneMask = std::uint32_t;
inline constexpr LaneMask kAllLanes = 0xFFFFFFFF;

constexpr bool has_lane(LaneMask lanes, int lane) { return lanes >> lane & 1; }
constexpr LaneMask lane_bit(int lane) { return LaneMask{1} << lane; }
constexpr int first_lane(LaneMask lanes) { return std::countr_zero(lanes); }
constexpr int lane_count(LaneMask lanes) { return std::popcount(lanes); }

// Calls `visit(lane)` for each lane, in ascending order.
template <typename Visit>
constexpr void for_each_lane(LaneMask lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(first_lane(lanes));
}

}  // namespace warpwatt::emulate
