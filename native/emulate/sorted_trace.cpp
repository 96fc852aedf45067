#include "emulate/sorted_trace.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace warpwatt::emulate {

namespace {

// Places of events when sorted by warp, in order within each (counting sort); `start` becomes the first place
// of each warp and, last, their number.
template <typename Event>
std::vector<std::int64_t> places_by_warp(const Event* events, std::int64_t count, std::int64_t warps,
                                         std::int64_t* start) {
    std::fill(start, start + warps + 1, 0);
    for (std::int64_t i = 0; i < count; ++i) ++start[events[i].warp + 1];
    std::partial_sum(start, start + warps + 1, start);
    std::vector<std::int64_t> next(start, start + warps), places(count);
    for (std::int64_t i = 0; i < count; ++i) places[i] = next[events[i].warp]++;
    return places;
}

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void sort_trace(const Machine* machine, std::int64_t warps, std::int64_t* step_start,
                std::int32_t* step_block, LaneMask* step_mask, std::int64_t* access_start,
                std::int32_t* access_instruction, LaneMask* access_mask, std::uint8_t* access_wavefronts,
                std::int64_t* access_step, std::int64_t* line_start, std::uint64_t* lines,
                std::uint32_t* access_barrier, std::int64_t* access_change) {
    const Trace& trace = machine->trace;
    const auto step_places = places_by_warp(trace.steps, trace.step_count, warps, step_start);
    for (std::int64_t i = 0; i < trace.step_count; ++i) {
        step_block[step_places[i]] = trace.steps[i].block;
        step_mask[step_places[i]] = trace.steps[i].active;
    }
    const auto places = places_by_warp(trace.requests, trace.request_count, warps, access_start);
    line_start[0] = 0;
    for (std::int64_t i = 0; i < trace.request_count; ++i) {
        const TraceRequest& request = trace.requests[i];
        const std::int64_t place = places[i];
        access_instruction[place] = request.instruction;
        access_mask[place] = request.lanes;
        access_wavefronts[place] = static_cast<std::uint8_t>(std::min(request.wavefronts, 255));
        if (access_barrier != nullptr) {
            access_barrier[place] = request.barrier;
            access_change[place] = request.change;
        }
        access_step[place] = step_places[request.step];
        line_start[place + 1] = request.lines;
    }
    std::partial_sum(line_start, line_start + trace.request_count + 1, line_start);
    const std::uint64_t* from = trace.lines;
    for (std::int64_t i = 0; i < trace.request_count; from += trace.requests[i++].lines)
        std::copy_n(from, trace.requests[i].lines, lines + line_start[places[i]]);
}
