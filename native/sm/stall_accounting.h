// Where the warps' cycles go: listens to what happens to warps and takes no part in it. Every cycle of a
// resident warp counts under the instruction that it is to issue next, and under one reason.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sm/blocked_groups.h"
#include "sm/cycle.h"
#include "sm/instruction.h"
#include "sm/scoreboard.h"

namespace warpwatt::sm {

inline constexpr int kProducers = 6;  // remembered for each instruction

// Rows by instruction.
using StallRow = Cycle[kStalls];               // warp cycles by reason
using ProducerRow = std::int32_t[kProducers];  // the first instructions that it waited for; -1: none
using AwaitedRow = Cycle[kProducers];          // warp cycles that it waited for each

// What a warp waits for before its next instruction, in this order.
struct Wait {
    std::int32_t pc;    // of that instruction
    Stall issue_stall;  // name of the wait for the stall count
    Cycle stall_end;    // when the stall count of the instruction before has passed
    Release result;     // the last result that it waits for
    Cycle fetched;
};

class StallAccounting {
public:
    StallAccounting(int warps, StallRow* stalls, ProducerRow* producers, AwaitedRow* awaited)
        : stalls_(stalls), producers_(producers), awaited_(awaited), warps_(warps) {}

    // Counts on in other rows.
    void count_in(StallRow* stalls, ProducerRow* producers, AwaitedRow* awaited) {
        stalls_ = stalls;
        producers_ = producers;
        awaited_ = awaited;
    }

    // A warp stands before its next instruction from `since` on.
    void on_next(int warp, Cycle since, const Wait& wait) {
        StallRow& cycles = stalls_[wait.pc];
        count(cycles, wait.issue_stall) += pass(since, wait.stall_end);
        const Cycle awaited = pass(since, wait.result.time);
        if (awaited > 0) count(cycles, wait.result.stall) += awaited;
        const Cycle fetching = pass(since, wait.fetched);
        if (fetching > 0) count(cycles, Stall::no_instruction) += fetching;
        warps_[warp] = {since, 0, 0, 0, awaited, wait.result.producer};
    }

    // A ready warp finds its units or register banks taken until `units.time`.
    void on_blocked(int warp, Cycle time, const UnitsFree& units) {
        Ready& ready = warps_[warp];
        const Cycle cycles = std::max(Cycle{0}, units.time - std::max(time, ready.blocked_until));
        ready.blocked += cycles;
        ready.blocked_by_banks += units.register_banks ? cycles : 0;
        ready.blocked_until = std::max(ready.blocked_until, units.time);
    }

    // A warp issues its next instruction. What it has not been blocked for, it was not selected.
    void on_issue(int warp, std::int32_t pc, Stall throttle_stall, Cycle time) {
        const Ready& ready = warps_[warp];
        StallRow& cycles = stalls_[pc];
        count(cycles, Stall::dispatch) += ready.blocked_by_banks;
        count(cycles, throttle_stall) += ready.blocked - ready.blocked_by_banks;
        count(cycles, Stall::not_selected) += time - ready.since - ready.blocked;
        count(cycles, Stall::selected) += 1;
        if (ready.awaited > 0) attribute_to_producer(pc, ready.producer, ready.awaited);
    }

    // A barrier, at which a warp has stood since `since`, lets it go at `time`, to wait for its next
    // instruction.
    void on_barrier_release(int warp, std::int32_t barrier_pc, Cycle since, Cycle time, const Wait& wait) {
        StallRow& cycles = stalls_[barrier_pc];
        count(cycles, Stall::wait) += pass(since, std::min(wait.stall_end, time));
        count(cycles, Stall::barrier) += pass(since, time);
        on_next(warp, since, wait);
    }

private:
    // A warp that waits for units only.
    struct Ready {
        Cycle since;
        Cycle blocked_until;
        Cycle blocked;           // cycles that units or banks were taken
        Cycle blocked_by_banks;  // of them
        Cycle awaited;           // cycles that it waited for a result before
        std::int32_t producer;   // of that result
    };

    static Cycle& count(StallRow& cycles, Stall reason) { return cycles[static_cast<int>(reason)]; }

    // Moves `from` on to `until`, if that is later; returns the cycles in between.
    static Cycle pass(Cycle& from, Cycle until) {
        const Cycle cycles = std::max(Cycle{0}, until - from);
        from += cycles;
        return cycles;
    }

    void attribute_to_producer(std::int32_t pc, std::int32_t producer, Cycle cycles) {
        for (int place = 0; place < kProducers; ++place) {
            std::int32_t& known = producers_[pc][place];
            if (known < 0) known = producer;
            if (known != producer) continue;
            awaited_[pc][place] += cycles;
            return;
        }
    }

    StallRow* stalls_;
    ProducerRow* producers_;
    AwaitedRow* awaited_;
    std::vector<Ready> warps_;
};

}  // namespace warpwatt::sm
