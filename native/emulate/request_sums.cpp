#include "emulate/request_sums.h"

#include <map>
#include <utility>

using namespace warpwatt::emulate;

std::int64_t sum_requests(const Machine* machine, RequestSums* rows) {
    std::map<std::pair<std::int64_t, std::int64_t>, RequestCounters> sums;
    for (std::int64_t row = 0; row < machine->code.operation_count; ++row)
        for (std::int64_t space = 0; space < kSpaces; ++space) {
            const RequestCounters& found = machine->totals.requests[row * kSpaces + space];
            if (found.requests == 0) continue;
            const auto [place, fresh] =
                sums.try_emplace({machine->code.operations[row].instruction, space}, found);
            if (!fresh) place->second.add(found);
        }
    for (const auto& [key, counters] : sums) *rows++ = {key.first, key.second, counters};
    return static_cast<std::int64_t>(sums.size());
}
