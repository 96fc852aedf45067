#include "caches/line_touches.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

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

std::int64_t longest_run(const std::int32_t* values, std::int64_t count) {
    std::int64_t longest = 1, start = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (values[i] != values[start]) start = i;
        longest = std::max(longest, i - start + 1);
    }
    return longest;
}

// The stream of accesses, a row for each line of each.
struct Stream {
    std::int64_t rows;
    const std::int64_t *line, *time;
    const std::int32_t *block, *instruction;
    const std::uint8_t *sectors, *kind;  // kind: 1 reads, 2 writes
    const double* bytes_per_sector;
};

// The lines of each block, ascending. Rows of a block stand together; of rows at one time the first comes
// first.
std::vector<TouchedLine> touched_lines(const Stream& stream) {
    std::vector<TouchedLine> touched;
    LinesOfBlock lines(longest_run(stream.block, stream.rows));
    std::size_t start = 0;
    const auto sort_block = [&] {
        std::sort(touched.begin() + start, touched.end(),
                  [](const TouchedLine& one, const TouchedLine& other) { return one.line < other.line; });
        start = touched.size();
    };
    for (std::int64_t row = 0; row < stream.rows; ++row) {
        if (row > 0 && stream.block[row] != stream.block[row - 1]) {
            sort_block();
            lines.start_block(touched.size());
        }
        const auto next = static_cast<std::int64_t>(touched.size());
        const std::int64_t index = lines.find_or_insert(stream.line[row], next);
        if (index == next)
            touched.push_back({stream.line[row], stream.block[row], {-1, -1, -1, -1}, {-1, -1, -1, -1}, {}});
        const bool reads = stream.kind[row] & 1, writes = stream.kind[row] & 2;
        touched[index].add(
            row, {stream.time[row], stream.sectors[row], reads, writes, stream.bytes_per_sector[row]},
            stream.time);
    }
    sort_block();
    return touched;
}

template <typename Visit>
void for_each_sector(const std::vector<TouchedLine>& touched, Visit visit) {
    for (const TouchedLine& line : touched)
        for (int place = 0; place < kSectorsPerLine; ++place)
            if (line.first_use[place] != kNobody) visit(line, place, line.line * kSectorsPerLine + place);
}

// Sectors, ascending, in which all blocks together write something but less than `whole` bytes.
std::int64_t partly_written(const std::vector<TouchedLine>& touched, double whole, std::int64_t* partly) {
    std::vector<std::pair<std::int64_t, double>> parts;
    for_each_sector(touched, [&](const TouchedLine& line, int place, std::int64_t sector) {
        const double bytes = line.bytes_written[place];
        if (bytes > 0 && bytes < whole) parts.emplace_back(sector, bytes);
    });
    if (parts.empty()) return 0;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (parts[i].first == parts[last].first)
            parts[last].second += parts[i].second;
        else
            parts[++last] = parts[i];
    parts.resize(last + 1);
    for_each_sector(touched, [&](const TouchedLine& line, int place, std::int64_t sector) {
        if (line.bytes_written[place] < whole) return;
        const auto found = std::lower_bound(parts.begin(), parts.end(), std::pair(sector, 0.0));
        if (found != parts.end() && found->first == sector) found->second = whole;
    });
    std::int64_t count = 0;
    for (const auto& [sector, bytes] : parts)
        if (bytes < whole) partly[count++] = sector;
    return count;
}

}  // namespace
}  // namespace warpwatt::caches

// Sectors of each block by block and sector, each with who comes to it first: `reads` those whose first use
// needs what was there before, `writes` those that are written. `partly`: sectors that stay partly written,
// ascending. All have room for four rows per row of the stream; `counts` gets how many there are of each.
WARPWATT_API void touched_sectors(std::int64_t rows, const std::int64_t* line, const std::int32_t* block,
                                  const std::int64_t* time, const std::uint8_t* sectors,
                                  const std::uint8_t* kind, const double* bytes_per_sector,
                                  const std::int32_t* instruction, double whole, std::int64_t* read_block,
                                  std::int64_t* read_sector, std::int32_t* read_instruction,
                                  std::int64_t* written_block, std::int64_t* written_sector,
                                  std::int32_t* written_instruction, std::int64_t* partly,
                                  std::int64_t* counts) {
    using namespace warpwatt::caches;
    const Stream stream{rows, line, time, block, instruction, sectors, kind, bytes_per_sector};
    const std::vector<TouchedLine> touched = touched_lines(stream);
    const auto add = [&](const SectorRows& to, std::int64_t& count, std::int64_t of, std::int64_t sector,
                         std::int64_t row) {
        to.block[count] = of, to.sector[count] = sector, to.instruction[count] = instruction[row];
        ++count;
    };
    std::fill_n(counts, 3, 0);
    for_each_sector(touched, [&](const TouchedLine& of, int place, std::int64_t sector) {
        const std::int64_t used = of.first_use[place], written = of.first_write[place];
        if (kind[used] & 1)
            add({read_block, read_sector, read_instruction}, counts[0], of.block, sector, used);
        if (written != kNobody)
            add({written_block, written_sector, written_instruction}, counts[1], of.block, sector, written);
    });
    counts[2] = counts[1] == 0 ? 0 : partly_written(touched, whole, partly);
}
