#include "sm/stall_accounting.h"

#include <algorithm>

namespace warpwatt::sm {
namespace {

Cycle& count(StallRow& cycles, Stall reason) { return cycles[static_cast<int>(reason)]; }

// Moves `from` to the earlier of `now` and `until`; returns the cycles in between.
Cycle pass(Cycle& from, Cycle until, Cycle now) {
    const Cycle cycles = std::max(Cycle{0}, std::min(until, now) - from);
    from += cycles;
    return cycles;
}

}  // namespace

void StallAccounting::on_blocked(int warp, Cycle time, const UnitsFree& units) {
    Waiting& waiting = warps_[warp];
    const Cycle cycles = std::max(Cycle{0}, units.time - std::max(time, waiting.blocked_until));
    waiting.blocked += cycles;
    waiting.blocked_by_banks += cycles * units.register_banks;
    waiting.blocked_until = std::max(waiting.blocked_until, units.time);
}

// What held the warp ends in this order: its stall count, the results it waits for, its fetch; then its units
// were taken, or another warp was selected.
void StallAccounting::on_issue(int warp, std::int32_t pc, Cycle time) {
    Waiting& waiting = warps_[warp];
    StallRow& cycles = stalls_[pc];
    Cycle at = waiting.since;
    warp_cycles_ += time + 1 - at;
    count(cycles, waiting.issue_stall) += pass(at, waiting.stall_end, time);
    if (const Cycle awaited = pass(at, waiting.result, time)) {
        count(cycles, waiting.result_stall) += awaited;
        attribute_to_producer(pc, waiting.producer, awaited);
    }
    count(cycles, Stall::no_instruction) += pass(at, waiting.fetched, time);
    const Cycle by_units = waiting.blocked - waiting.blocked_by_banks;
    count(cycles, Stall::dispatch) += waiting.blocked_by_banks;
    count(cycles, instructions_[pc].throttle_stall) += by_units;
    count(cycles, Stall::not_selected) += time - at - waiting.blocked;
    count(cycles, Stall::selected) += 1;
    waiting.since = time + 1;
}

void StallAccounting::on_barrier_release(int warp, std::int32_t barrier_pc, Cycle time) {
    Waiting& waiting = warps_[warp];
    StallRow& cycles = stalls_[barrier_pc];
    const Cycle before = waiting.since;
    count(cycles, Stall::wait) += pass(waiting.since, waiting.stall_end, time);
    count(cycles, Stall::barrier) += pass(waiting.since, time, time);
    warp_cycles_ += waiting.since - before;
}

void StallAccounting::attribute_to_producer(std::int32_t pc, std::int32_t producer, Cycle cycles) {
    for (int place = 0; place < kProducers; ++place) {
        std::int32_t& known = producers_[pc][place];
        if (known < 0) known = producer;
        if (known != producer) continue;
        awaited_[pc][place] += cycles;
        return;
    }
}

}  // namespace warpwatt::sm
