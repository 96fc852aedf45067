// The lines that a trace's accesses touch, a row each: warpwatt.core.reuse.LineStream.
#pragma once

#include <cstdint>

namespace warpwatt::caches {

inline constexpr int kLineBits = 7;                                       // lines of 128 bytes
inline constexpr std::uint8_t kReads = 1, kWrites = 2, kWritesWhole = 4;  // bits of a row's kind

// A trace by warps, as warpwatt.emulate.run.Trace has it.
struct AccessTrace {
    std::int64_t warps, warps_per_block;
    const std::int64_t* step_start;
    const std::int32_t* step_block;
    const std::int64_t* access_start;
    const std::int32_t* access_instruction;
    const std::uint32_t* access_mask;
    const std::int64_t* access_step;
    const std::int64_t* line_start;
    const std::uint64_t* lines;  // byte address of a line, the touched sectors in its lowest four bits
};

// What the code says of each instruction, and of each basic block.
struct AccessingCode {
    const std::uint8_t* kind;   // bits as those of a row, but kWritesWhole
    const std::int64_t* bytes;  // that a lane accesses
    const std::int64_t* burst;  // those of one number are issued back to back; null: each access for itself
    const std::uint8_t*
        awaits;  // whether a basic block ends with a barrier that its warp waits at; may be null
};

// The columns of the stream; `bytes_per_sector` are those that the access moves in each sector it touches.
struct StreamRows {
    std::int32_t *instruction, *block, *warp;
    std::int64_t *time, *line;
    std::uint8_t *sectors, *kind;
    double* bytes_per_sector;
};

// Writes a row for each line of each access, in the trace's order.
void write_line_stream(const AccessTrace& trace, const AccessingCode& code, const StreamRows& rows);

}  // namespace warpwatt::caches
