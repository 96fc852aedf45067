// When each sub-core has something to do next, and which have something to do in the present cycle. Bits in
// place of branches, which would often be mispredicted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "sm/cycle.h"

namespace warpwatt::sm {

class WakeTimes {
public:
    static constexpr int kMostSubCores = 4;

    explicit WakeTimes(int sub_cores) {
        times_.fill(kNever);
        std::fill_n(times_.begin(), sub_cores, 0);
    }

    // Goes on to the next cycle in which a sub-core has something to do, and returns it.
    Cycle advance() {
        now_ = *std::min_element(times_.begin(), times_.end());
        awake_ = 1u << kMostSubCores;
        for (int core = 0; core < kMostSubCores; ++core) awake_ |= unsigned{times_[core] <= now_} << core;
        return now_;
    }

    // Returns the first sub-core from `first` on that has something to do in this cycle, or `kMostSubCores`.
    int next_awake(int first) const { return std::countr_zero(awake_ & (~0u << first)); }

    void sleep_until(int core, Cycle time) { times_[core] = time; }

    void wake_by(int core, Cycle time) {
        times_[core] = std::min(times_[core], time);
        awake_ |= unsigned{time <= now_} << core;
    }

private:
    std::array<Cycle, kMostSubCores> times_;
    Cycle now_ = 0;
    unsigned awake_ = 0;
};

}  // namespace warpwatt::sm
