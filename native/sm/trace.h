// What the warps of sampled blocks execute: WarpStreams of warpwatt.core.streams.
#pragma once

#include <cstdint>

namespace warpwatt::sm {

// Straight code that a warp executes.
struct TraceStep {
    std::int64_t first;
    std::int64_t end;           // behind its last instruction
    std::int64_t first_access;  // number of its first memory access
};

// One execution of a memory instruction with at least one lane on.
struct MemoryAccess {
    double lsu_cycles;
    double sectors;        // of 32 bytes, beyond shared memory
    double lines;          // of 128 bytes
    double object = -1.0;  // number of the barrier object that it concerns; below 0: none
    double change = 0.0;   // of that: see BarrierObject
};

// Where a warp stands in its trace.
struct TraceCursor {
    const TraceStep* step = nullptr;
    const TraceStep* end = nullptr;
    std::int64_t access = 0;  // number of the warp's next memory access
    std::int32_t pc = -1;     // before the first instruction

    static TraceCursor at_start(const TraceStep* first, const TraceStep* end) {
        return {first, end, first < end ? first->first_access : 0, -1};
    }

    // Moves to the next instruction; false behind the last one.
    bool advance() {
        if (step >= end) return false;
        std::int64_t next = pc < 0 ? step->first : pc + 1;
        while (next >= step->end) {
            if (++step >= end) return false;
            next = step->first;
            access = step->first_access;
        }
        pc = static_cast<std::int32_t>(next);
        return true;
    }
};

// The accesses of all warps, in the order of their traces.
struct AccessTrace {
    const std::int64_t* instructions = nullptr;
    const MemoryAccess* accesses = nullptr;
    std::int64_t count = 0;

    // Returns the warp's access by the instruction at which it stands and moves behind it; none where all
    // lanes were off.
    const MemoryAccess* take(TraceCursor& warp) const {
        if (warp.access >= count || instructions[warp.access] != warp.pc) return nullptr;
        return &accesses[warp.access++];
    }
};

}  // namespace warpwatt::sm
