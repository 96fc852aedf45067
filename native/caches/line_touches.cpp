#include "caches/line_touches.h"

#include <algorithm>
#include <bit>

#include "c_api.h"

namespace warpwatt::caches {

void TouchedLine::add(std::int64_t row, const Touch& touch, const std::int64_t* time) {
    const auto earlier = [&](std::int64_t first) { return first == kNobody || touch.time < time[first]; };
    for (int sector = 0; sector < kSectorsPerLine; ++sector) {
        if (!(touch.sectors >> sector & 1)) continue;
        if (earlier(first_use[sector])) first_use[sector] = row;
        if (touch.reads) bytes_written[sector] += kReadCountsAsBytes;
        if (!touch.writes) continue;
        bytes_written[sector] += touch.bytes_per_sector;
        if (earlier(first_write[sector])) first_write[sector] = row;
    }
}

LinesOfBlock::LinesOfBlock(std::int64_t most_lines)
    : entries_(std::bit_ceil(2 * static_cast<std::uint64_t>(most_lines)), Entry{0, -1}),
      mask_(entries_.size() - 1) {}

std::int64_t LinesOfBlock::find_or_insert(std::int64_t line, std::int64_t next) {
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C1;  // multiplicative hashing, Knuth 6.4
    std::uint64_t place = (static_cast<std::uint64_t>(line) * kMultiplier >> 20) & mask_;
    while (entries_[place].index >= first_ && entries_[place].line != line) place = (place + 1) & mask_;
    if (entries_[place].index < first_) entries_[place] = {line, next};
    return entries_[place].index;
}

namespace {

std::int64_t longest_run(const std::int64_t* values, std::int64_t count) {
    std::int64_t longest = 1, start = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (values[i] != values[start]) start = i;
        longest = std::max(longest, i - start + 1);
    }
    return longest;
}

}  // namespace
}  // namespace warpwatt::caches

// The lines of each block, into `touched`, which has room for one per row; returns how many there are. Rows
// of a block stand together; of rows at one time the first comes first. `kind`: 1 reads, 2 writes.
WARPWATT_API std::int64_t touched_lines(std::int64_t rows, const std::int64_t* line,
                                        const std::int64_t* block, const std::int64_t* time,
                                        const std::uint8_t* sectors, const std::uint8_t* kind,
                                        const double* bytes_per_sector,
                                        warpwatt::caches::TouchedLine* touched) {
    using namespace warpwatt::caches;
    LinesOfBlock lines(longest_run(block, rows));
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (row > 0 && block[row] != block[row - 1]) lines.start_block(count);
        const std::int64_t index = lines.find_or_insert(line[row], count);
        if (index == count) {
            touched[count++] = {line[row], block[row], {-1, -1, -1, -1}, {-1, -1, -1, -1}, {}};
        }
        const bool reads = kind[row] & 1, writes = kind[row] & 2;
        touched[index].add(row, {time[row], sectors[row], reads, writes, bytes_per_sector[row]}, time);
    }
    return count;
}
