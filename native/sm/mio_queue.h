// The queue of a sub-core in front of the units that it shares with others (memory input/output), and the
// address unit at its head (Huerta et al., MICRO 2025, "Memory pipeline", table 1: five instructions issue
// back to back, then one per four cycles). Instructions leave in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sm/cycle.h"
#include "sm/pipes.h"
#include "sm/settings.h"

namespace warpwatt::sm {

class MioQueue {
public:
    static constexpr int kMostEntries = 16;

    explicit MioQueue(const Settings& settings)
        : depth_(settings.queue_depth), address_cycles_(settings.address_cycles) {}

    // Returns when there is room for one more: when the instruction `depth` before it leaves.
    Cycle free() const { return free_; }

    // Puts an instruction through the address unit; returns when that has begun.
    Cycle address(Cycle time) {
        const Cycle begun = std::max(time, address_free_);
        address_free_ = begun + address_cycles_;
        return begun;
    }

    // The next instruction leaves the queue, because its unit takes it.
    void leave(Cycle time) {
        leaves_[count_++ % kMostEntries] = time;
        if (count_ >= depth_) free_ = leaves_[(count_ - depth_) % kMostEntries];
    }

    // Passes an instruction to a pipe of the SM, which takes what comes from all sub-cores in turn; returns
    // when it is taken.
    Cycle pass_to(ExecutionPipe& shared, std::int32_t cycles, Cycle time) {
        const Cycle taken = shared.take(address(time), cycles);
        leave(taken);
        return taken;
    }

    // Passes an instruction to the special function unit; returns when it is taken. One instruction waits
    // before the unit, so that the next leaves the queue when that one has gone in; what comes behind it is
    // held back until then.
    Cycle pass_to_special(ExecutionPipe& unit, std::int32_t cycles, Cycle time) {
        const Cycle leaves = std::max({time, address_free_, special_begun_});
        const Cycle taken = unit.take(leaves, cycles);
        address_free_ = leaves + 1;
        special_begun_ = taken;
        leave(leaves);
        return taken;
    }

private:
    std::uint64_t depth_;
    Cycle address_cycles_;
    std::uint64_t count_ = 0;  // instructions so far
    Cycle free_ = 0;
    Cycle address_free_ = 0;
    Cycle special_begun_ = 0;  // when the special function unit took its last instruction
    std::array<Cycle, kMostEntries> leaves_{};
};

}  // namespace warpwatt::sm
