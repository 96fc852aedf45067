// What warps access step by step, one access for each execution of an instruction: the read and the write of
// an asynchronous copy, the matrices of a matrix load are one.
#pragma once

#include <cstdint>

namespace warpwatt::streams {

// A trace by warps, as warpwatt.emulate.run.Trace has it.
struct TracedAccesses {
    std::int64_t steps;
    const std::int32_t* step_block;
    std::int64_t accesses;
    const std::int64_t* step;
    const std::int32_t* instruction;
    const std::uint32_t* mask;
    const std::uint8_t* wavefronts;
    const std::int64_t* line_start;
    const std::uint64_t* lines;  // the touched sectors in the lowest four bits
};

// A step of a warp: the instructions of its basic block, and the number of its first access.
struct StreamStep {
    std::int64_t first, behind, access;
};

// Columns of accesses: warpwatt.core.streams.WarpStreams.
struct AccessColumns {
    std::int64_t* instruction;
    double *lanes, *wavefronts, *sectors, *lines;
};

// Writes the steps, of which `first` and `behind` say by basic block which instructions they are, and the
// accesses, of which there are at most as many as in the trace. Returns how many there are.
std::int64_t write_accesses(const TracedAccesses& trace, const std::int64_t* first,
                            const std::int64_t* behind, StreamStep* steps, const AccessColumns& columns);

}  // namespace warpwatt::streams
