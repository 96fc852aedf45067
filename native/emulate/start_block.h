// The records of a block and its warps as they are when it begins.
#pragma once

#include <cstdint>

#include "emulate/machine.h"

namespace warpwatt::emulate {

// Starts a block at one of the places for resident blocks.
void start_block(Machine& machine, std::int64_t place, std::int64_t index_in_run, std::int64_t index_in_grid);

}  // namespace warpwatt::emulate
