// The chip's block distributor as one SM sees it: a line of blocks, each of which has its turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sm/cycle.h"
#include "sm/settings.h"

namespace warpwatt::sm {

struct DispatchedBlock {
    std::int64_t ordinal;  // place in line
    std::int64_t traced;   // the sampled block whose traces it executes
    Cycle time;
};

class BlockDispatcher {
public:
    // `blocks`: the sampled block in each place of the line.
    BlockDispatcher(const std::int64_t* blocks, std::int64_t count, const Settings& settings)
        : blocks_(blocks), count_(count), interval_(settings.dispatch_cycles) {}

    // Returns the next block for a slot that is free at `time`, but not before its turn on the chip; none
    // behind the last.
    std::optional<DispatchedBlock> next(Cycle time) {
        if (next_ == count_) return std::nullopt;
        const std::int64_t ordinal = next_++;
        busy_ += interval_;
        const auto turn = static_cast<Cycle>(static_cast<double>(ordinal) * interval_);
        return DispatchedBlock{ordinal, blocks_[ordinal], std::max(time, turn)};
    }

    std::int64_t dispatched() const { return next_; }

    // There are no more blocks than were dispatched.
    void close() { count_ = next_; }

    double busy_cycles() const { return busy_; }

private:
    const std::int64_t* blocks_;
    std::int64_t count_;
    double interval_;
    std::int64_t next_ = 0;
    double busy_ = 0.0;
};

}  // namespace warpwatt::sm
