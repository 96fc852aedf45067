// What is counted of one instruction in one space: warpwatt.emulate.run.AccessCounts, row by row.
#pragma once

#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"
#include "emulate/request_counters.h"

namespace warpwatt::emulate {

struct RequestSums {
    std::int64_t instruction;
    std::int64_t space;
    RequestCounters counters;
};

}  // namespace warpwatt::emulate

// Writes a row for each instruction and space with requests, in that order; returns how many. An instruction
// may be several operations, whose sums are added up.
WARPWATT_API std::int64_t sum_requests(const warpwatt::emulate::Machine* machine,
                                       warpwatt::emulate::RequestSums* rows);
