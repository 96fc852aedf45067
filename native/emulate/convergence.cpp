#include "emulate/convergence.h"

#include <cstring>

#include "emulate/barrier.h"
#include "emulate/run_time.h"

namespace warpwatt::emulate {

namespace {

// Lanes that a CONVERGE does not wait for (SASS `BREAK`), in a register of the warp.
LaneMask leavers_of(const Machine& machine, const Warp& warp, int block) {
    LaneMask lanes = 0;
    if (const std::int32_t offset = machine.code.converge_leavers[block])
        std::memcpy(&lanes, reinterpret_cast<const unsigned char*>(&warp) + offset, sizeof lanes);
    return lanes;
}

LaneMask lanes_at(const Warp& warp, NextBlock state) {
    LaneMask here = 0;
    for (int lane = 0; lane < kLanes; ++lane) here |= LaneMask{warp.next[lane] == state} << lane;
    return here;
}

// Lanes that wait further on for one of these. They have left the region that these wait in, although ptxas
// put no `BREAK` on their way (seen in front of the default of a switch): nobody could go on otherwise.
LaneMask lanes_ahead(const Warp& warp, int block, LaneMask here) {
    LaneMask ahead = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
        const NextBlock next = warp.next[lane];
        const bool waits = converges(next) && (next & kBlockBits) > block && (warp.waits_for[lane] & here);
        ahead |= LaneMask{waits} << lane;
    }
    return ahead;
}

}  // namespace

// Lanes that wait at one place may be of several regions, each inside another: levels of a function that
// calls itself. Those of one region wait for the same others, and go on together.
void converge(const Machine& machine, Warp& warp, int block) {
    const LaneMask waiting = lanes_at(warp, kConverging + block);
    LaneMask awaited = warp.live & ~leavers_of(machine, warp, block);
    if (machine.code.converge_leavers[block]) awaited &= ~lanes_ahead(warp, block, waiting);
    for (LaneMask left = waiting; left;) {
        const LaneMask region = warp.waits_for[first_lane(left)] & awaited;
        LaneMask here = 0;
        for_each_lane(
            left, [&](int lane) { here |= LaneMask{(warp.waits_for[lane] & awaited) == region} << lane; });
        if ((region & ~here) == 0)
            for_each_lane(here, [&](int lane) { warp.next[lane] = machine.code.converge_targets[block]; });
        left &= ~here;
    }
}

void converge_all(const Machine& machine, Warp& warp) {
    for (int lane = 0; lane < kLanes; ++lane)
        if (converges(warp.next[lane])) converge(machine, warp, warp.next[lane] & kBlockBits);
}

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void converge_lanes(Machine* machine, Warp* warp, std::int32_t block) {
    converge(*machine, *warp, block);
    for (int lane = 0; lane < kLanes; ++lane) {  // those that wait before this place no longer wait for these
        const int place = warp->next[lane] & kBlockBits;
        if (converges(warp->next[lane]) && place < block && machine->code.converge_leavers[place])
            converge(*machine, *warp, place);
    }
}

void converge_waiting_lanes(Machine* machine, Warp* warp) { converge_all(*machine, *warp); }

void exit_lanes(Machine* machine, Warp* warp, LaneMask lanes) {
    for_each_lane(lanes, [&](int lane) { warp->next[lane] = kExited; });
    warp->live &= ~lanes;
    warp->block->live -= lane_count(lanes);
    if (warp->live) converge_all(*machine, *warp);
    open_complete_barriers(*machine, *warp->block);
}
