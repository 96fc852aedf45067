// The warp scheduler of a sub-core: its ready queue and the order in which warps issue. Greedy: it goes on with
// the warp it issued last while that one can issue (Huerta et al., MICRO 2025, "Scheduling policy"), and only
// then looks for another.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/cycle.h"
#include "sm/settings.h"

namespace warpwatt::sm {

inline constexpr int kNoWarp = -1;

// When the units that an instruction needs can take it.
struct UnitsFree {
    Cycle time = 0;
    bool register_banks = false;  // whether the register file is what it waits for
};

// What choosing needs to know of a warp, side by side for the scan of every cycle.
struct QueueEntry {
    Cycle ready;          // never, for a warp that waits at a barrier
    Cycle waiting_since;  // behind its last issue, its start or its barrier
    std::int32_t pc;
    std::int16_t warp;
    std::int16_t block_slot;
};

class WarpScheduler {
public:
    WarpScheduler(IssueOrder order, int warps) : order_(order), position_(warps) { queue_.reserve(warps); }

    // The next cycle in which something may issue here.
    Cycle wake() const { return wake_; }
    void wake_at(Cycle time) { wake_ = time; }
    void wake_by(Cycle time) {
        if (time < wake_) wake_ = time;
    }

    // Adds a warp as the youngest. Warps of a block come one after the other.
    void add(const QueueEntry& entry);
    void update(int warp, Cycle ready, Cycle waiting_since, std::int32_t pc) {
        QueueEntry& entry = queue_[position_[warp]];
        entry.ready = ready;
        entry.waiting_since = waiting_since;
        entry.pc = pc;
    }
    void remove(int warp);

    // Lets the oldest block be the youngest, as if it had made room for another one.
    void rotate_oldest_block();

    // Returns the warp that issues now, or `kNoWarp` after noting when to look again.
    // `units_free(pc)`: when units take that instruction; `blocked(warp, units)`: a warp is ready, they are not.
    template <class UnitsFreeFor, class Blocked>
    int choose(Cycle now, UnitsFreeFor&& units_free, Blocked&& blocked);

    void issued(int warp) { last_ = warp; }

private:
    void moved(std::size_t first);

    IssueOrder order_;
    int last_ = kNoWarp;  // issued last
    Cycle wake_ = 0;
    std::vector<QueueEntry> queue_;     // oldest first
    std::vector<std::int16_t> position_;  // in the queue, by warp
};

template <class UnitsFreeFor, class Blocked>
int WarpScheduler::choose(Cycle now, UnitsFreeFor&& units_free, Blocked&& blocked) {
    if (last_ != kNoWarp) {
        const QueueEntry& last = queue_[position_[last_]];
        if (last.ready <= now) {
            const UnitsFree units = units_free(last.pc);
            if (units.time <= now) return last_;
            blocked(last_, units);
        }
    }
    Cycle again = kNever;
    const QueueEntry* best = nullptr;
    std::int32_t asked = -1;  // warps often stand at the same instruction
    UnitsFree units;
    const auto length = static_cast<std::ptrdiff_t>(queue_.size());
    for (std::ptrdiff_t i = 0; i < length; ++i) {
        const QueueEntry& entry = queue_[order_ == IssueOrder::youngest ? length - 1 - i : i];
        const bool next_block = best && entry.block_slot != best->block_slot;
        if (next_block && order_ == IssueOrder::oldest_block) return best->warp;
        if (entry.ready > now) {
            again = std::min(again, entry.ready);
            continue;
        }
        if (entry.pc != asked) units = units_free(asked = entry.pc);
        if (units.time > now) {
            blocked(entry.warp, units);
            again = std::min(again, units.time);
            continue;
        }
        if (order_ == IssueOrder::oldest || order_ == IssueOrder::youngest) return entry.warp;
        if (!best || entry.waiting_since < best->waiting_since) best = &entry;
    }
    if (best) return best->warp;
    wake_ = again;
    return kNoWarp;
}

}  // namespace warpwatt::sm
