// The indexed constant cache of an SM, which LDC and ULDC read. It looks up one address at a time (CUDA C++
// Programming Guide, "Constant Memory": a request for several takes as many) and waits for one miss at a
// time: what warps of whole SMs take for constants beyond its size grows with the warps, as if each fetched
// them for itself (machines.toml, "constants").
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sm/cycle.h"
#include "sm/instruction.h"

namespace warpwatt::sm {

class ConstantCache {
public:
    explicit ConstantCache(std::int64_t instructions) : due_(instructions, 0.5) {}

    // Returns when a warp that comes to an instruction at `time` has its constants.
    Cycle read(const Instruction& instruction, std::int32_t pc, Cycle time) {
        const double cycles = instruction.constant_turns_cycles + missing(instruction, pc);
        if (cycles == 0.0) return time;
        free_ = std::max(free_, static_cast<double>(time)) + cycles;
        return static_cast<Cycle>(free_);
    }

private:
    // Returns the cycles of the misses that are due: whole ones, as many as their rate says.
    double missing(const Instruction& instruction, std::int32_t pc) {
        double& due = due_[pc];
        due += instruction.constant_misses;
        const auto misses = static_cast<Cycle>(due);
        due -= static_cast<double>(misses);
        return static_cast<double>(misses) * instruction.constant_miss_cycles;
    }

    std::vector<double> due_;  // by instruction: misses that should have come
    double free_ = 0.0;
};

}  // namespace warpwatt::sm
