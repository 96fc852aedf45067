// The warp scheduler of a sub-core: the order in which warps issue. Greedy: it goes on with the warp it
// issued last while that one can issue (Huerta et al., MICRO 2025, "Scheduling policy"), and only then looks
// for another.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sm/blocked_groups.h"
#include "sm/cycle.h"
#include "sm/ready_queue.h"
#include "sm/settings.h"

namespace warpwatt::sm {

inline constexpr int kNoPosition = -1;

// The position of the warp that issues, or when to look again.
struct Choice {
    int position = kNoPosition;
    Cycle look_again = kNever;
};

class WarpScheduler {
public:
    WarpScheduler(IssueOrder order, int warps, int block_slots) : order_(order), queue_(warps, block_slots) {}

    const ReadyQueue& queue() const { return queue_; }

    // As those of ReadyQueue.
    void add(const QueueEntry& warp) {
        change_positions([&] { queue_.add(warp); });
    }
    void rotate_oldest_block() {
        change_positions([&] { queue_.rotate_oldest_block(); });
    }
    void update(int position, Cycle ready, Cycle waiting_since, std::int32_t needs) {
        queue_.update(position, ready, waiting_since, needs);
    }

    void remove(int position) {
        if (last_ == position) last_ = kNoPosition;
        queue_.remove(position);
    }

    // Chooses the warp that issues now. `units_free(needs)`: when units take an instruction with these needs;
    // `blocked(warp, units)` is told of every warp asked that is ready where its units are not free, unless
    // it was told the same before.
    template <class UnitsFreeFor, class Blocked>
    [[gnu::always_inline]] Choice choose(Cycle now, UnitsFreeFor&& units_free, Blocked&& blocked);

    void issued(int position) {
        last_ = position;
        blocked_.remove(position);
    }

private:
    template <class Change>
    void change_positions(Change&& change) {
        const int last = last_ == kNoPosition ? -1 : queue_[last_].warp;
        change();
        if (last >= 0) last_ = queue_.position_of(last);
        blocked_.clear();
    }

    // Returns those that are asked although the one at `position`, the first in order, can issue: `oldest`
    // and `youngest` take it, the others the longest waiting one of those asked.
    Positions asked_beside(int position) const {
        switch (order_) {
            case IssueOrder::oldest:
                return ~Positions{0} >> (63 - position);
            case IssueOrder::youngest:
                return ~Positions{0} << position;
            case IssueOrder::oldest_block:
                return ~Positions{0} >> std::countl_zero(queue_.of_block(queue_[position].block_slot));
            default:
                return ~Positions{0};
        }
    }

    int first_of(Positions warps) const {
        return order_ == IssueOrder::youngest ? 63 - std::countl_zero(warps) : std::countr_zero(warps);
    }

    int longest_waiting(Positions warps) const {
        int best = std::countr_zero(warps);
        for (warps &= warps - 1; warps != 0; warps &= warps - 1) {
            const int other = std::countr_zero(warps);
            if (queue_[other].waiting_since < queue_[best].waiting_since) best = other;
        }
        return best;
    }

    IssueOrder order_;
    int last_ = kNoPosition;  // issued last
    ReadyQueue queue_;
    BlockedGroups blocked_;
};

template <class UnitsFreeFor, class Blocked>
[[gnu::always_inline]] inline Choice WarpScheduler::choose(Cycle now, UnitsFreeFor&& units_free,
                                                           Blocked&& blocked) {
    queue_.advance(now);
    const Positions ready = queue_.ready();
    if (last_ != kNoPosition && (ready & position_bit(last_))) {
        const UnitsFree units = units_free(queue_[last_].needs);
        if (units.time <= now) return {last_};
        blocked(queue_[last_].warp, units);
    }
    Cycle again = kNever;
    Positions left = ready & ~blocked_.warps();
    for (BlockedGroup& group : blocked_) {
        const UnitsFree units = units_free(group.needs);
        if (units.time != group.units.time) group.told = 0;
        group.units = units;
        if (units.time <= now) {
            left |= group.warps;
        } else {
            again = std::min(again, units.time);
        }
    }
    Positions asked = ~Positions{0}, free = 0;
    while (left != 0) {
        const int first = first_of(left);
        const std::int32_t needs = queue_[first].needs;
        left &= ~position_bit(first);
        BlockedGroup* group = blocked_.find(needs);
        if (group == blocked_.end()) {
            const UnitsFree units = units_free(needs);
            if (units.time > now) {
                again = std::min(again, units.time);
                blocked_.join(*blocked_.add(needs, units), first);
                continue;
            }
        } else if (group->units.time > now) {
            blocked_.join(*group, first);
            continue;
        }
        if (free == 0) left &= asked = asked_beside(first);
        free |= position_bit(first);
    }
    for (BlockedGroup& group : blocked_) {
        if (group.units.time <= now) continue;
        const Positions tell = group.warps & asked & ~group.told;
        group.told |= tell;
        for (Positions warps = tell; warps != 0; warps &= warps - 1)
            blocked(queue_[std::countr_zero(warps)].warp, group.units);
    }
    if (free != 0) return {longest_waiting(free)};
    return {kNoPosition, std::min(again, queue_.next_ready())};
}

}  // namespace warpwatt::sm
