// Which warp runs when: blocks one after the other, those that are resident together in rounds; in each,
// every warp that could run as the round began has one turn.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"

namespace warpwatt::emulate {

// Why a run ends; warpwatt.emulate.run.Stop.
enum class Stop : std::int64_t { kDone, kInstructions, kDeadlock, kFault };

}  // namespace warpwatt::emulate

// Runs all blocks of a launch; returns why it ended (Stop).
WARPWATT_API std::int64_t run_blocks(warpwatt::emulate::Machine* machine);

// Runs each block of a launch as if it were the only one, up to so many instructions; its trace has so many
// bytes. Memory stays as the blocks before left it. `stops` gets why each ended, `spent` how many
// instructions it took. Nothing further runs once all together have taken `total`, or a function in Python
// has failed.
WARPWATT_API void run_each_block(warpwatt::emulate::Machine* machine, std::int64_t instructions,
                                 std::int64_t trace_bytes, std::int64_t total, std::int64_t* stops,
                                 std::int64_t* spent);
