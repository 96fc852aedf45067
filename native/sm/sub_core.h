// A sub-core (processing block) of the SM: a warp scheduler and the units that it issues to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sm/instruction.h"
#include "sm/instruction_cache.h"
#include "sm/issue_needs.h"
#include "sm/mio_queue.h"
#include "sm/pipes.h"
#include "sm/register_file.h"
#include "sm/settings.h"
#include "sm/warp_scheduler.h"

namespace warpwatt::sm {

struct SubCore {
    SubCore(const Settings& settings, std::int32_t code_lines)
        : scheduler(settings.issue_order, settings.resident_blocks * settings.warps_per_block,
                    settings.resident_blocks),
          instruction_cache(code_lines, settings),
          mio_queue(settings) {}

    // Returns when the units that an instruction needs can take it.
    UnitsFree units_free(const IssueNeeds& needs, const SharedPipes& shared) const {
        const Cycle queue = mio_queue.free() * needs.mio_queue;  // no branch: often mispredicted
        const Cycle free = std::max({pipes.free_for(needs), shared.free_for(needs), queue});
        const Cycle dispatch = std::max(register_file.ready(needs), dispatch_free);
        return {std::max(free, dispatch), dispatch > free};
    }

    // Takes pipes, register banks and dispatch for an instruction that issues.
    void take_units(const Instruction& instruction, const IssueNeeds& needs, SharedPipes& shared,
                    Cycle time) {
        pipes.take(needs, instruction.pipe_cycles, time);
        shared.take(needs, instruction.sm_pipe_cycles, time);
        register_file.read(instruction, time);
        if (instruction.issue_cycles > 1) dispatch_free = time + instruction.issue_cycles;
    }

    WarpScheduler scheduler;
    L0InstructionCache instruction_cache;
    RegisterFile register_file;
    MioQueue mio_queue;
    SubCorePipes pipes;
    Cycle dispatch_free = 0;
};

}  // namespace warpwatt::sm
