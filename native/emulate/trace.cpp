#include "emulate/trace.h"

#include <algorithm>

#include "emulate/machine.h"
#include "emulate/run_time.h"
#include "emulate/touched_lines.h"

namespace warpwatt::emulate {

void Trace::record_step(const Warp& warp, int block) {
    if (step_count >= step_room || dropped) {
        dropped = 1;
        return;
    }
    steps[step_count++] = {static_cast<std::int32_t>(warp.index_in_run), block, warp.active};
}

void Trace::record_request(const Warp& warp, int instruction, LaneMask lanes, int wavefronts,
                           const TouchedLines& touched, BarrierEvent event) {
    if (request_count >= request_room || line_count + touched.size() > line_room || dropped) {
        dropped = 1;
        return;
    }
    barrier_events += event.barrier != kNoBarrierObject;
    for (const TouchedLine& found : touched) lines[line_count++] = found.line << kLineShift | found.sectors;
    requests[request_count++] = {
        static_cast<std::int32_t>(warp.index_in_run), instruction,   lanes,       wavefronts, touched.size(),
        static_cast<std::int32_t>(step_count - 1),    event.barrier, event.change};
}

void Trace::record_request(const Warp& warp, int instruction, LaneMask lanes, int wavefronts,
                           const std::uint64_t* touched, std::int64_t count, BarrierEvent event) {
    if (line_count + count > line_room) {
        dropped = 1;
        return;
    }
    record_request(warp, instruction, lanes, wavefronts, TouchedLines(), event);
    if (dropped) return;
    line_count = std::copy_n(touched, count, lines + line_count) - lines;
    requests[request_count - 1].lines = static_cast<std::int32_t>(count);
}

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void record_step(Machine* machine, const Warp* warp, std::int32_t block) {
    machine->trace.record_step(*warp, block);
}
