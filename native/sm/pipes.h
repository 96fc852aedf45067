// Execution pipes: each takes one warp instruction at a time, for as many cycles as its lanes need for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sm/cycle.h"
#include "sm/instruction.h"
#include "sm/issue_needs.h"

namespace warpwatt::sm {

struct ExecutionPipe {
    Cycle free = 0;
    std::int64_t busy_cycles = 0;

    // Takes an instruction at `time`, or when the pipe is free; returns when that is.
    Cycle take(Cycle time, std::int32_t cycles) {
        const Cycle taken = std::max(time, free);
        free = taken + cycles;
        busy_cycles += cycles;
        return taken;
    }
};

// The pipes of a sub-core. An instruction that needs none takes `Pipe::none` for no cycles.
class SubCorePipes {
public:
    ExecutionPipe& operator[](Pipe pipe) { return pipes_[static_cast<int>(pipe)]; }
    const ExecutionPipe& operator[](Pipe pipe) const { return pipes_[static_cast<int>(pipe)]; }

    // Returns when an instruction finds its pipe, or the alternative one, free.
    Cycle free_for(const IssueNeeds& needs) const {
        return std::min((*this)[needs.pipe].free, (*this)[needs.alternative].free);
    }

    void take(const IssueNeeds& needs, std::int32_t cycles, Cycle time) {
        if (needs.pipe == Pipe::none) return;
        const bool other_free = (*this)[needs.alternative].free <= time;
        (*this)[other_free ? needs.alternative : needs.pipe].take(time, cycles);
    }

private:
    std::array<ExecutionPipe, kPipes> pipes_;
};

// The pipes that all sub-cores share. Sub-cores may issue to them in the same cycle; then one waits inside.
class SharedPipes {
public:
    ExecutionPipe& operator[](SmPipe pipe) { return pipes_[static_cast<int>(pipe)]; }
    const ExecutionPipe& operator[](SmPipe pipe) const { return pipes_[static_cast<int>(pipe)]; }

    Cycle free_for(const IssueNeeds& needs) const { return (*this)[needs.sm_pipe].free; }

    void take(const IssueNeeds& needs, std::int32_t cycles, Cycle time) {
        if (needs.sm_pipe != SmPipe::none) (*this)[needs.sm_pipe].take(time, cycles);
    }

private:
    std::array<ExecutionPipe, kSmPipes> pipes_;
};

}  // namespace warpwatt::sm
