// When each sub-core has something to do next.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sm/cycle.h"

namespace warpwatt::sm {

class WakeTimes {
public:
    static constexpr int kMostSubCores = 4;

    explicit WakeTimes(int sub_cores) {
        for (int core = 0; core < kMostSubCores; ++core) sleep_until(core, core < sub_cores ? 0 : kNever);
    }

    // Goes on to the next sub-core that has something to do, of several in one cycle to the first; returns
    // it.
    int advance() {
        const Turn next = std::min(std::min(turns_[0], turns_[1]), std::min(turns_[2], turns_[3]));
        now_ = next / kMostSubCores;
        return static_cast<int>(next % kMostSubCores);
    }

    Cycle now() const { return static_cast<Cycle>(now_); }

    void sleep_until(int core, Cycle time) { turns_[core] = turn(core, time); }
    void wake_by(int core, Cycle time) { turns_[core] = std::min(turns_[core], turn(core, time)); }

private:
    using Turn = std::uint64_t;  // in the order of times, then of sub-cores

    static Turn turn(int core, Cycle time) { return static_cast<Turn>(time) * kMostSubCores + core; }

    std::array<Turn, kMostSubCores> turns_;
    Turn now_ = 0;
};

}  // namespace warpwatt::sm
