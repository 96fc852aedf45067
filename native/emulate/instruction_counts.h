// How often each instruction of a program was executed, and with how many lanes.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"

// Adds what the basic blocks have counted to their instructions; lanes whose guard is off are taken off.
WARPWATT_API void count_instructions(const warpwatt::emulate::Machine* machine, std::int64_t* executions,
                                     std::int64_t* lanes);
