#include "emulate/instruction_counts.h"

using namespace warpwatt::emulate;

void count_instructions(const Machine* machine, std::int64_t blocks, const InstructionRange* ranges,
                        std::int64_t guards, const std::int64_t* guarded_instructions,
                        std::int64_t* executions, std::int64_t* lanes) {
    const Totals& totals = machine->totals;
    for (std::int64_t block = 0; block < blocks; ++block)
        for (std::int64_t i = ranges[block].start; i < ranges[block].stop; ++i) {
            executions[i] += totals.executions[block];
            lanes[i] += totals.lanes[block];
        }
    for (std::int64_t guard = 0; guard < guards; ++guard)
        lanes[guarded_instructions[guard]] -= totals.guarded[guard];
}
