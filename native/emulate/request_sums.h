// What is counted of one instruction in one space: warpwatt.emulate.run.AccessCounts, row by row.
#pragma once

#include <cstdint>

#include "emulate/request_counters.h"

namespace warpwatt::emulate {

struct RequestSums {
    std::int64_t instruction;
    std::int64_t space;
    RequestCounters counters;
};

}  // namespace warpwatt::emulate
