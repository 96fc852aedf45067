// How often each instruction of a program was executed, and with how many lanes.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"

namespace warpwatt::emulate {

// The instructions of a basic block.
struct InstructionRange {
    std::int64_t start, stop;
};

}  // namespace warpwatt::emulate

// Adds what the basic blocks have counted to their instructions; `guarded_instructions` are those of each
// guard, whose lanes are taken off.
WARPWATT_API void count_instructions(const warpwatt::emulate::Machine* machine, std::int64_t blocks,
                                     const warpwatt::emulate::InstructionRange* ranges, std::int64_t guards,
                                     const std::int64_t* guarded_instructions, std::int64_t* executions,
                                     std::int64_t* lanes);
