// Bank conflicts: how many passes (wavefronts) shared memory takes to serve a request.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/lanes.h"

namespace warpwatt::emulate {

// Shared memory has 32 banks of 4 bytes; lanes that access one word share it. Accesses of 8 and 16 bytes are
// served by half and quarter warps, two of them at once where neighbouring lanes (t and t ^ 1, or t and t ^
// 2) have the same address (warpwatt.program.transactions cites the sources).
int wavefronts(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes, std::int64_t bytes);

// Whether all lanes are served at once, whichever of them has which address.
bool served_together(std::int64_t bytes);

// The wavefronts of lanes with one address.
int wavefronts_of_one(LaneMask lanes, std::int64_t bytes);

}  // namespace warpwatt::emulate
