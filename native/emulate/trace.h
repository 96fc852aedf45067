// The events of a run in order: basic blocks executed, and memory requests with the lines they touch.
#pragma once

#include <cstdint>

#include "emulate/lanes.h"

namespace warpwatt::emulate {

struct Warp;
class TouchedLines;

inline constexpr std::uint32_t kNoBarrierObject = ~std::uint32_t{0};

struct TraceStep {
    std::int32_t warp;
    std::int32_t block;  // basic block
    LaneMask active;
};

struct TraceRequest {
    std::int32_t warp;
    std::int32_t instruction;
    LaneMask lanes;
    std::int32_t wavefronts;  // of shared memory
    std::int32_t lines;       // how many of the trace's lines are this request's
    std::int32_t step;        // number of the step that made it
    std::uint32_t barrier;    // see BarrierEvent
    std::int64_t change;
};

// What a request has to do with a barrier object: its shared address, and by how much its word changes; of a
// wait the parity of the phase, of a copy the bytes that all blocks are told of.
struct BarrierEvent {
    std::uint32_t barrier = kNoBarrierObject;
    std::int64_t change = 0;
};

// Room for events; from the first that finds none, all are dropped.
struct Trace {
    std::int64_t enabled;
    TraceStep* steps;
    std::int64_t step_room, step_count;
    TraceRequest* requests;
    std::int64_t request_room, request_count;
    std::uint64_t* lines;  // byte address of a line, the touched sectors in its lowest four bits
    std::int64_t line_room, line_count;
    std::int64_t dropped;
    std::int64_t barrier_events;  // requests that concern a barrier object

    void record_step(const Warp& warp, int block);
    void record_request(const Warp& warp, int instruction, LaneMask lanes, int wavefronts,
                        const TouchedLines& touched, BarrierEvent event = {});
    // The same, of lines as they are to be recorded.
    void record_request(const Warp& warp, int instruction, LaneMask lanes, int wavefronts,
                        const std::uint64_t* touched, std::int64_t count, BarrierEvent event);
};

}  // namespace warpwatt::emulate
