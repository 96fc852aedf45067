// Which warp runs when: blocks one after the other, those that are resident together in rounds; in each,
// every warp that could run as the round began has one turn.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"
#include "emulate/request_sums.h"

namespace warpwatt::emulate {

// Why a run ends; warpwatt.emulate.run.Stop.
enum class Stop : std::int64_t { kDone, kInstructions, kDeadlock, kFault };

// What blocks may take that run in turn, all together; warpwatt.emulate.budget.Budget.
struct Budget {
    std::int64_t instructions, trace_bytes;  // that are left; a block may fill a quarter of the trace
    std::int64_t fewest;                     // blocks that are run whatever they take
    std::int64_t enough, enough_trace;       // no more are run once no more, or less, is left

    bool is_spent() const { return fewest <= 0 && (instructions <= enough || trace_bytes < enough_trace); }
};

// Why a block ended, whether events of it were dropped, and how many request sums it and those before have.
struct BlockEnd {
    Stop stop;
    std::int64_t dropped;
    std::int64_t request_sums;
};

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

// Runs blocks of a launch in turn, each as if it were the only one, until the budget is spent, there is no
// room for the trace of another, or one does not end; returns how many ran. Of each, `executions` and `lanes`
// get those of the program's `instructions`, and `sums` what sum_requests writes.
WARPWATT_API std::int64_t run_in_turn(warpwatt::emulate::Machine* machine,
                                      const warpwatt::emulate::Budget* budget, std::int64_t instructions,
                                      warpwatt::emulate::BlockEnd* ends, std::int64_t* executions,
                                      std::int64_t* lanes, warpwatt::emulate::RequestSums* sums);
