// Which lines each thread block touches, who comes to each sector first, and how many bytes are written
// there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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
    std::int64_t line, block;
    std::array<std::int64_t, kSectorsPerLine> first_use;    // the row of each sector, or kNobody
    std::array<std::int64_t, kSectorsPerLine> first_write;  // likewise
    std::array<double, kSectorsPerLine> bytes_written;      // and kReadCountsAsBytes for each read

    void add(std::int64_t row, const Touch& touch, const std::int64_t* time);
};

// The lines of the block at hand by their number: a hash table with open addressing, which forgets by itself
// what earlier blocks put there.
class LinesOfBlock {
public:
    explicit LinesOfBlock(std::int64_t most_lines);

    void start_block(std::int64_t first) { first_ = first; }

    // The index of a line; `next`, which it then has, if it is new.
    std::int64_t find_or_insert(std::int64_t line, std::int64_t next);

private:
    struct Entry {
        std::int64_t line, index;
    };
    std::vector<Entry> entries_;
    std::uint64_t mask_;
    std::int64_t first_ = 0;  // smaller indices belong to earlier blocks
};

// Rows of a table of sectors: the block, the sector's byte address over 32, and an instruction.
struct SectorRows {
    std::int64_t* block;
    std::int64_t* sector;
    std::int32_t* instruction;
};

}  // namespace warpwatt::caches
