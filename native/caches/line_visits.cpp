#include "caches/line_visits.h"

#include <algorithm>

#include "c_api.h"
#include "caches/lines_of_block.h"
#include "caches/radix_sort.h"

namespace warpwatt::caches {

std::vector<LineVisit> visits_of(const VisitRows& rows) {
    std::vector<LineVisit> visits;
    LinesOfBlock lines(longest_run(rows.block, rows.count));
    for (std::int64_t row = 0; row < rows.count; ++row) {
        if (row > 0 && rows.block[row] != rows.block[row - 1]) lines.start_block(visits.size());
        if (!rows.wanted[rows.instruction[row]]) continue;
        const auto next = static_cast<std::int64_t>(visits.size());
        const std::int64_t index = lines.find_or_insert(rows.line[row], next);
        if (index == next)
            visits.push_back({rows.line[row], rows.time[row], rows.block[row], rows.sectors[row]});
        LineVisit& visit = visits[index];
        visit.time = std::min(visit.time, rows.time[row]);
        visit.sectors |= rows.sectors[row];
    }
    radix_sort(visits, [](const LineVisit& visit) { return visit.line; });
    return visits;
}

}  // namespace warpwatt::caches

using namespace warpwatt::caches;

// Lines that several blocks come to, and the first time of each there; by line, then block. Returns how many
// there are; there is room for as many as rows.
WARPWATT_API std::int64_t shared_visits(std::int64_t count, const std::int64_t* line,
                                        const std::int64_t* time, const std::int32_t* block,
                                        const std::int32_t* instruction, const std::uint8_t* sectors,
                                        const std::uint8_t* wanted, std::int64_t* visited_line,
                                        std::int64_t* visited_time, std::int32_t* visiting_block) {
    const std::vector<LineVisit> visits = visits_of({count, line, time, block, instruction, sectors, wanted});
    std::int64_t found = 0;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        const bool before = i > 0 && visits[i - 1].line == visits[i].line;
        const bool behind = i + 1 < visits.size() && visits[i + 1].line == visits[i].line;
        if (!before && !behind) continue;
        visited_line[found] = visits[i].line, visited_time[found] = visits[i].time;
        visiting_block[found++] = visits[i].block;
    }
    return found;
}

// The sectors that blocks touch, by sector, then block. Returns how many there are; there is room for four
// for each row.
WARPWATT_API std::int64_t visited_sectors(std::int64_t count, const std::int64_t* line,
                                          const std::int64_t* time, const std::int32_t* block,
                                          const std::int32_t* instruction, const std::uint8_t* sectors,
                                          const std::uint8_t* wanted, std::int64_t* touching_block,
                                          std::int64_t* touched_sector) {
    const std::vector<LineVisit> visits = visits_of({count, line, time, block, instruction, sectors, wanted});
    std::int64_t found = 0;
    for (auto first = visits.begin(), end = first; first != visits.end(); first = end) {
        end = std::find_if(first, visits.end(),
                           [&](const LineVisit& visit) { return visit.line != first->line; });
        for (int place = 0; place < kSectorsPerLine; ++place)
            for (auto visit = first; visit != end; ++visit)
                if (visit->sectors >> place & 1) {
                    touching_block[found] = visit->block;
                    touched_sector[found++] = visit->line * kSectorsPerLine + place;
                }
    }
    return found;
}
