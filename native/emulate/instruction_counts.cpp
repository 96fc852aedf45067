#include "emulate/instruction_counts.h"

using namespace warpwatt::emulate;

void count_instructions(const Machine* machine, std::int64_t* executions, std::int64_t* lanes) {
    const Code& code = machine->code;
    const Totals& totals = machine->totals;
    for (std::int64_t block = 0; block < code.block_count; ++block) {
        const InstructionRange range = code.block_instructions[block];
        for (std::int64_t i = range.start; i < range.stop; ++i) {
            executions[i] += totals.executions[block];
            lanes[i] += totals.lanes[block];
        }
    }
    for (std::int64_t guard = 0; guard < code.guard_count; ++guard)
        lanes[code.guarded_instructions[guard]] -= totals.guarded[guard];
}
