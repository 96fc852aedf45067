// Which lines each thread block touches, who comes to each sector first, and how many bytes are written
// there.
#pragma once

#include <array>
#include <cstdint>

#include "caches/line.h"

namespace warpwatt::caches {

inline constexpr std::int64_t kNobody = -1;

// Bytes written that stand for a read: more than any sum of writes to be called partial.
inline constexpr double kReadCountsAsBytes = 1e9;

// One access of a warp to a line: a row of the stream.
struct Touch {
    std::int64_t time;
    std::uint8_t sectors;  // a bit for each that is touched
    bool reads, writes;
    double bytes_per_sector;  // written in each
};

// What a block does with a line.
struct TouchedLine {
    std::int64_t line;
    std::array<std::int64_t, kSectorsPerLine> first_use;    // the row of each sector, or kNobody
    std::array<std::int64_t, kSectorsPerLine> first_write;  // likewise
    std::array<double, kSectorsPerLine> bytes_written;      // and kReadCountsAsBytes for each read

    void add(std::int64_t row, const Touch& touch, const std::int64_t* time);
};

// Rows of a table of sectors: the block, the sector's byte address over 32, and an instruction.
struct SectorRows {
    std::int64_t* block;
    std::int64_t* sector;
    std::int32_t* instruction;
};

}  // namespace warpwatt::caches
