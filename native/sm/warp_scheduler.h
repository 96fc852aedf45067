// The warp scheduler of a sub-core: the order in which warps issue. Greedy: it goes on with the warp it
// issued last while that one can issue (Huerta et al., MICRO 2025, "Scheduling policy"), and only then looks
// for another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sm/cycle.h"
#include "sm/ready_queue.h"
#include "sm/settings.h"

namespace warpwatt::sm {

inline constexpr int kNoWarp = -1;

// When the units that an instruction needs can take it.
struct UnitsFree {
    Cycle time = 0;
    bool register_banks = false;  // whether the register file is what it waits for
};

// The warp that issues, or when to look again.
struct Choice {
    int warp = kNoWarp;
    Cycle look_again = kNever;
};

class WarpScheduler {
public:
    WarpScheduler(IssueOrder order, int warps) : queue(warps), order_(order) {}

    // Chooses the warp that issues now. `units_free(pc)`: when units take that instruction; `blocked(warp,
    // units)` is told of every warp asked that is ready where its units are not free.
    template <class UnitsFreeFor, class Blocked>
    Choice choose(Cycle now, UnitsFreeFor&& units_free, Blocked&& blocked) const;

    void issued(int warp) { last_ = warp; }

    void remove(int warp) {
        if (last_ == warp) last_ = kNoWarp;
        queue.remove(warp);
    }

    ReadyQueue queue;

private:
    IssueOrder order_;
    int last_ = kNoWarp;  // issued last
};

template <class UnitsFreeFor, class Blocked>
Choice WarpScheduler::choose(Cycle now, UnitsFreeFor&& units_free, Blocked&& blocked) const {
    if (last_ != kNoWarp && queue.ready(queue.position_of(last_)) <= now) {
        const UnitsFree units = units_free(queue[queue.position_of(last_)].pc);
        if (units.time <= now) return {last_};
        blocked(last_, units);
    }
    Cycle again = kNever;
    const QueueEntry* best = nullptr;
    std::int32_t asked = -1;  // warps often stand at the same instruction
    UnitsFree units;
    for (std::uint64_t ready = queue.ready_at(now); ready != 0;) {
        const bool youngest_first = order_ == IssueOrder::youngest;
        const int position = youngest_first ? 63 - std::countl_zero(ready) : std::countr_zero(ready);
        ready &= ~(std::uint64_t{1} << position);
        const QueueEntry& entry = queue[position];
        const bool next_block = best && entry.block_slot != best->block_slot;
        if (next_block && order_ == IssueOrder::oldest_block) break;
        if (entry.pc != asked) units = units_free(asked = entry.pc);
        if (units.time > now) {
            blocked(entry.warp, units);
            again = std::min(again, units.time);
            continue;
        }
        if (order_ == IssueOrder::oldest || order_ == IssueOrder::youngest) return {entry.warp};
        if (!best || entry.waiting_since < best->waiting_since) best = &entry;
    }
    if (best) return {best->warp};
    return {kNoWarp, std::min(again, queue.next_ready(now))};
}

}  // namespace warpwatt::sm
