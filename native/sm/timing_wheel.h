// A timing wheel (Varghese and Lauck, SOSP 1987): which of up to 64 sleepers wake when. Each of its 64 slots
// stands for one of the next cycles and holds a bit for each sleeper that wakes in it; those that wake later
// are looked through when the first of them does.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "sm/cycle.h"

namespace warpwatt::sm {

using Sleepers = std::uint64_t;  // a bit for each

class TimingWheel {
public:
    Cycle now() const { return now_; }

    // `time` is later than now. A sleeper is added once.
    void add(int sleeper, Cycle time) {
        const Sleepers bit = Sleepers{1} << sleeper;
        if (time - now_ <= kSlots) {
            slots_[slot(time)] |= bit;
            occupied_ |= std::uint64_t{1} << slot(time);
        } else {
            later_ |= bit;
            times_[sleeper] = time;
            next_later_ = std::min(next_later_, time);
        }
    }

    // When the next one wakes.
    Cycle next() const {
        const Cycle near = now_ + 1 + std::countr_zero(std::rotr(occupied_, slot(now_ + 1)));
        return std::min(next_later_, occupied_ == 0 ? kNever : near);
    }

    // Goes on to `now`, which is not behind the next one; returns those that wake.
    Sleepers advance(Cycle now) {
        now_ = now;
        occupied_ &= ~(std::uint64_t{1} << slot(now));
        const Sleepers woken = std::exchange(slots_[slot(now)], 0);
        return next_later_ == now ? woken | wake_later() : woken;
    }

    // Forgets all sleepers.
    void clear() {
        occupied_ = later_ = 0;
        slots_.fill(0);
        next_later_ = kNever;
    }

private:
    static constexpr int kSlots = 64;

    static int slot(Cycle time) { return static_cast<int>(time & (kSlots - 1)); }

    Sleepers wake_later() {
        Sleepers woken = 0;
        next_later_ = kNever;
        for (Sleepers left = later_; left != 0; left &= left - 1) {
            const Cycle time = times_[std::countr_zero(left)];
            const bool wakes = time == now_;
            woken |= (left & -left) * wakes;
            next_later_ = std::min(next_later_, wakes ? kNever : time);
        }
        later_ &= ~woken;
        return woken;
    }

    Cycle now_ = -1;
    std::uint64_t occupied_ = 0;  // a bit for each slot with sleepers
    std::array<Sleepers, kSlots> slots_{};
    Sleepers later_ = 0;
    Cycle next_later_ = kNever;
    std::array<Cycle, 64> times_{};  // of those that wake later
};

}  // namespace warpwatt::sm
