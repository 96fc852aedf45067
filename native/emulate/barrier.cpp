#include "emulate/barrier.h"

#include "emulate/run_time.h"

namespace warpwatt::emulate {

namespace {

Barrier& barrier_of(Block& block, std::int64_t number) { return block.barriers[number & (kBarriers - 1)]; }

void release(Warp& warp, std::uint32_t number) {
    for (int lane = 0; lane < kLanes; ++lane) {
        const NextBlock next = warp.next[lane];
        const bool waits = at_barrier(next) & (warp.waits_for[lane] == number);
        warp.next[lane] = waits ? next & kBlockBits : next;
    }
}

}  // namespace

void open_if_complete(Machine& machine, Block& block, int number) {
    Barrier& barrier = block.barriers[number];
    const std::int64_t expected = barrier.expected <= 0 ? block.live : barrier.expected;
    if (barrier.arrived == 0 || barrier.arrived < expected) return;
    check_opening(machine, block, number);
    barrier.result_holding = barrier.holding;
    barrier.result_arrived = barrier.arrived;
    barrier.holding = barrier.arrived = 0;
    for (std::int64_t i = 0; i < machine.launch.warps_per_block; ++i)
        release(machine.warp_of(block, i), number);
}

void open_complete_barriers(Machine& machine, Block& block) {
    for (int number = 0; number < kBarriers; ++number) open_if_complete(machine, block, number);
}

std::int64_t reduce(const Barrier& barrier, BarrierReduction how) {
    switch (how) {
        case BarrierReduction::kCount:
            return barrier.result_holding;
        case BarrierReduction::kAnd:
            return barrier.result_holding == barrier.result_arrived;
        default:
            return barrier.result_holding != 0;
    }
}

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void arrive_at_barrier(Machine* machine, Warp* warp, std::int64_t number, std::int64_t expected,
                       std::int32_t arrive, LaneMask holding, std::int32_t target) {
    number &= kBarriers - 1;
    for_each_lane(warp->active, [&](int lane) {
        warp->next[lane] = arrive ? target : kAtBarrier + target;
        warp->waits_for[lane] = static_cast<std::uint32_t>(number);
    });
    check_arrival(*machine, *warp, number, expected, target);
    Barrier& barrier = warp->block->barriers[number];
    barrier.arrived += lane_count(warp->active);
    barrier.holding += lane_count(holding);
    barrier.expected = expected;
    open_if_complete(*machine, *warp->block, static_cast<int>(number));
}

void read_barrier_results(Machine* machine, Warp* warp, std::int32_t how) {
    for (std::uint64_t& value : machine->values[0])
        value = reduce(barrier_of(*warp->block, value), static_cast<BarrierReduction>(how));
}
