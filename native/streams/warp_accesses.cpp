#include "streams/warp_accesses.h"

#include <bit>

#include "c_api.h"
#include "caches/line.h"

namespace warpwatt::streams {

namespace {

std::int64_t sectors_of(const TracedAccesses& trace, std::int64_t access) {
    std::int64_t sectors = 0;
    for (std::int64_t line = trace.line_start[access]; line < trace.line_start[access + 1]; ++line)
        sectors += caches::sectors_in(trace.lines[line]);
    return sectors;
}

bool is_same_execution(const TracedAccesses& trace, std::int64_t access) {
    return access > 0 && trace.step[access] == trace.step[access - 1] &&
           trace.instruction[access] == trace.instruction[access - 1];
}

}  // namespace

std::int64_t write_accesses(const TracedAccesses& trace, const std::int64_t* first,
                            const std::int64_t* behind, StreamStep* steps, const AccessColumns& columns) {
    std::int64_t found = 0, step = 0;
    const auto begin_steps = [&](std::int64_t end) {
        for (; step < end; ++step) {
            const std::int32_t block = trace.step_block[step];
            steps[step] = {first[block], behind[block], found};
        }
    };
    std::uint32_t lanes = 0;
    for (std::int64_t access = 0; access < trace.accesses; ++access) {
        if (!is_same_execution(trace, access)) {
            begin_steps(trace.step[access] + 1);
            columns.instruction[found] = trace.instruction[access];
            columns.wavefronts[found] = columns.sectors[found] = columns.lines[found] = 0;
            ++found;
            lanes = 0;
        }
        lanes |= trace.mask[access];
        columns.lanes[found - 1] = std::popcount(lanes);
        columns.wavefronts[found - 1] += trace.wavefronts[access];
        columns.sectors[found - 1] += static_cast<double>(sectors_of(trace, access));
        columns.lines[found - 1] +=
            static_cast<double>(trace.line_start[access + 1] - trace.line_start[access]);
    }
    begin_steps(trace.steps);
    return found;
}

}  // namespace warpwatt::streams

using namespace warpwatt::streams;

// The same of columns that are given one by one.
WARPWATT_API std::int64_t warp_accesses(
    std::int64_t steps, const std::int32_t* step_block, std::int64_t accesses, const std::int64_t* step,
    const std::int32_t* instruction, const std::uint32_t* mask, const std::uint8_t* wavefronts,
    const std::int64_t* line_start, const std::uint64_t* lines, const std::int64_t* first,
    const std::int64_t* behind, StreamStep* stream_steps, std::int64_t* stream_instruction,
    double* stream_lanes, double* stream_wavefronts, double* stream_sectors, double* stream_lines) {
    return write_accesses(
        {steps, step_block, accesses, step, instruction, mask, wavefronts, line_start, lines}, first, behind,
        stream_steps, {stream_instruction, stream_lanes, stream_wavefronts, stream_sectors, stream_lines});
}
