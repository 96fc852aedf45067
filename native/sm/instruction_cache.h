// The front end: an L0 instruction cache in each sub-core, behind them the instruction cache of the SM, both
// with prefetching of the lines that follow (Huerta et al., MICRO 2025, "Front-end"). Lines leave in the
// order in which they came.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/cycle.h"
#include "sm/settings.h"

namespace warpwatt::sm {

// Which of a program's lines are at hand: a line leaves when `capacity` - 1 others were loaded behind it, so
// that there is a place for the next one to be filled.
class ResidentLines {
public:
    ResidentLines(std::int32_t lines, std::int32_t capacity)
        : loaded_at_(lines, -kNever), capacity_(capacity) {}

    bool holds(std::int32_t line) const { return loads_ - loaded_at_[line] < capacity_; }
    void load(std::int32_t line) { loaded_at_[line] = loads_++; }
    std::int32_t lines() const { return static_cast<std::int32_t>(loaded_at_.size()); }

private:
    std::vector<std::int64_t> loaded_at_;  // by line: the loads before its last one
    std::int64_t loads_ = 0;
    std::int64_t capacity_;
};

// The instruction cache of the SM. A miss asks L2 for the line and for those behind it.
class L1InstructionCache {
public:
    L1InstructionCache(std::int32_t lines, const Settings& settings);

    // Returns when a line asked for at `time` is there.
    Cycle fetch(std::int32_t line, Cycle time);

private:
    void load(std::int32_t line, Cycle time);

    ResidentLines resident_;
    std::vector<Cycle> arrival_;  // by line
    std::int32_t ahead_;
    Cycle miss_cycles_;
};

// The instruction cache of a sub-core.
class L0InstructionCache {
public:
    L0InstructionCache(std::int32_t lines, const Settings& settings);

    // Returns when a line asked for at `time` is in the warp's instruction buffer, 0 if it is at hand. What
    // follows the code before (`sequential`) was prefetched and does not wait for the way between the caches.
    Cycle fetch(std::int32_t line, bool sequential, Cycle time, L1InstructionCache& l1) {
        return resident_.holds(line) ? 0 : miss(line, sequential, time, l1);
    }

private:
    Cycle miss(std::int32_t line, bool sequential, Cycle time, L1InstructionCache& l1);

    ResidentLines resident_;
    Cycle miss_cycles_;
};

}  // namespace warpwatt::sm
