// The trace of a run warp by warp: warpwatt.emulate.run.Trace.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"

// Writes the arrays of a Trace, which have room for all events of `warps` warps; those of barrier objects may
// be null.
WARPWATT_API void sort_trace(const warpwatt::emulate::Machine* machine, std::int64_t warps,
                             std::int64_t* step_start, std::int32_t* step_block,
                             warpwatt::emulate::LaneMask* step_mask, std::int64_t* access_start,
                             std::int32_t* access_instruction, warpwatt::emulate::LaneMask* access_mask,
                             std::uint8_t* access_wavefronts, std::int64_t* access_step,
                             std::int64_t* line_start, std::uint64_t* lines, std::uint32_t* access_barrier,
                             std::int64_t* access_change);
