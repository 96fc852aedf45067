// Where the warps' cycles go: listens to what happens to warps and takes no part in it. Every cycle of a
// resident warp counts under the instruction that it is to issue next, and under one reason.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/cycle.h"
#include "sm/instruction.h"
#include "sm/scoreboard.h"
#include "sm/warp_scheduler.h"

namespace warpwatt::sm {

inline constexpr int kProducers = 6;  // remembered for each instruction

// Rows by instruction.
using StallRow = Cycle[kStalls];               // warp cycles by reason
using ProducerRow = std::int32_t[kProducers];  // the first instructions that it waited for; -1: none
using AwaitedRow = Cycle[kProducers];          // warp cycles that it waited for each

class StallAccounting {
public:
    StallAccounting(const Instruction* instructions, int warps, StallRow* stalls, ProducerRow* producers,
                    AwaitedRow* awaited)
        : instructions_(instructions),
          stalls_(stalls),
          producers_(producers),
          awaited_(awaited),
          warps_(warps) {}

    // A warp is resident from `time` on.
    void on_start(int warp, Cycle time) { warps_[warp].since = time; }

    // A warp stands before its next instruction: what that waits for, in this order.
    void on_next(int warp, Cycle stall_end, Stall issue_stall, const Release& awaited, Cycle fetched) {
        Waiting& waiting = warps_[warp];
        waiting.stall_end = stall_end;
        waiting.issue_stall = issue_stall;
        waiting.result = awaited.time;
        waiting.result_stall = awaited.stall;
        waiting.producer = awaited.producer;
        waiting.fetched = fetched;
        waiting.blocked_until = waiting.blocked = waiting.blocked_by_banks = 0;
    }

    // A ready warp finds its units or register banks taken until `units.time`.
    void on_blocked(int warp, Cycle time, const UnitsFree& units);

    // A warp issues its next instruction.
    void on_issue(int warp, std::int32_t pc, Cycle time);

    // A barrier lets a warp go at `time`.
    void on_barrier_release(int warp, std::int32_t barrier_pc, Cycle time);

    // Cycles of all warps so far, from their start to their last issue.
    Cycle warp_cycles() const { return warp_cycles_; }

private:
    // What holds the warp that is to issue next.
    struct Waiting {
        Cycle since;      // counted up to here
        Cycle stall_end;  // of the stall count of the instruction before
        Cycle result;     // when the last result that it waits for is there
        Cycle fetched;
        Cycle blocked_until;
        Cycle blocked;           // cycles that units or banks were taken
        Cycle blocked_by_banks;  // of them
        std::int32_t producer;   // of that result
        Stall issue_stall, result_stall;
    };

    void attribute_to_producer(std::int32_t pc, std::int32_t producer, Cycle cycles);

    const Instruction* instructions_;
    StallRow* stalls_;
    ProducerRow* producers_;
    AwaitedRow* awaited_;
    std::vector<Waiting> warps_;
    Cycle warp_cycles_ = 0;
};

}  // namespace warpwatt::sm
