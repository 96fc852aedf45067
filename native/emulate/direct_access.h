// Memory for the functional engine: moves data, counts nothing. Called by generated code for what it does not
// do in line; arguments and results as in run_time.h.
#pragma once

#include "c_api.h"
#include "emulate/machine.h"

// Loads; 0 where a lane is off.
WARPWATT_API void load_lanes_directly(warpwatt::emulate::Machine* machine, warpwatt::emulate::Warp* warp,
                                      std::int32_t row, warpwatt::emulate::LaneMask lanes);

// Loads one address for all lanes that are on: the elements are the first values.
WARPWATT_API void load_uniform_directly(warpwatt::emulate::Machine* machine, warpwatt::emulate::Warp* warp,
                                        std::int32_t row, warpwatt::emulate::LaneMask lanes,
                                        std::uint64_t address);

// Stores; of lanes with one address the last prevails.
WARPWATT_API void store_lanes_directly(warpwatt::emulate::Machine* machine, warpwatt::emulate::Warp* warp,
                                       std::int32_t row, warpwatt::emulate::LaneMask lanes);

// Reads, modifies and writes, lane by lane in order; in global memory atomically, as other threads run other
// blocks.
WARPWATT_API void atomic_lanes_directly(warpwatt::emulate::Machine* machine, warpwatt::emulate::Warp* warp,
                                        std::int32_t row, warpwatt::emulate::LaneMask lanes);
