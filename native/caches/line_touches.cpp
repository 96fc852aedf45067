#include "caches/line_touches.h"

#include <algorithm>
#include <vector>

#include "c_api.h"
#include "caches/lines_of_block.h"
#include "caches/radix_sort.h"

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

namespace {

// The stream of accesses, a row for each line of each.
struct Stream {
    std::int64_t rows;
    const std::int64_t *line, *time;
    const std::int32_t *block, *instruction;
    const std::uint8_t *sectors, *kind;  // kind: 1 reads, 2 writes
    const double* bytes_per_sector;
};

// The place of a line among those of its block.
struct LinePlace {
    std::int64_t line, place;
};

// Calls `visit(block, lines)` with the lines of each block, ascending. Rows of a block stand together; of
// rows at one time the first comes first.
template <typename Visit>
void for_each_block(const Stream& stream, Visit visit) {
    LinesOfBlock lines(longest_run(stream.block, stream.rows));
    std::vector<TouchedLine> touched;
    std::vector<LinePlace> order;
    std::int64_t before = 0;  // lines of earlier blocks
    const auto end_block = [&](std::int32_t block) {
        radix_sort(order, [](const LinePlace& of) { return of.line; });
        visit(block, touched, order);
        before += touched.size();
        touched.clear(), order.clear();
        lines.start_block(before);
    };
    for (std::int64_t row = 0; row < stream.rows; ++row) {
        if (row > 0 && stream.block[row] != stream.block[row - 1]) end_block(stream.block[row - 1]);
        const auto next = static_cast<std::int64_t>(touched.size());
        const std::int64_t place = lines.find_or_insert(stream.line[row], before + next) - before;
        if (place == next) {
            touched.push_back({stream.line[row], {-1, -1, -1, -1}, {-1, -1, -1, -1}, {}});
            order.push_back({stream.line[row], place});
        }
        const bool reads = stream.kind[row] & 1, writes = stream.kind[row] & 2;
        touched[place].add(
            row, {stream.time[row], stream.sectors[row], reads, writes, stream.bytes_per_sector[row]},
            stream.time);
    }
    if (stream.rows > 0) end_block(stream.block[stream.rows - 1]);
}

// Calls `visit(block, line, place, sector)` with the sectors of each block, ascending.
template <typename Visit>
void for_each_sector(const Stream& stream, Visit visit) {
    for_each_block(stream, [&](std::int32_t block, const std::vector<TouchedLine>& touched,
                               const std::vector<LinePlace>& order) {
        for (const LinePlace& at : order)
            for (int place = 0; place < kSectorsPerLine; ++place)
                if (touched[at.place].first_use[place] != kNobody)
                    visit(block, touched[at.place], place, at.line * kSectorsPerLine + place);
    });
}

// Bytes that a block writes in a sector.
struct WrittenPart {
    std::int64_t sector;
    double bytes;
};

// Sectors, ascending, in which all blocks together write something but less than `whole` bytes, of the parts
// that blocks write less of.
std::int64_t partly_written(const Stream& stream, std::vector<WrittenPart>& parts, double whole,
                            std::int64_t* partly) {
    if (parts.empty()) return 0;
    radix_sort(parts, [](const WrittenPart& part) { return part.sector; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (parts[i].sector == parts[last].sector)
            parts[last].bytes += parts[i].bytes;
        else
            parts[++last] = parts[i];
    parts.resize(last + 1);
    for_each_sector(stream, [&](std::int32_t, const TouchedLine& line, int place, std::int64_t sector) {
        if (line.bytes_written[place] < whole) return;
        const auto found = std::lower_bound(
            parts.begin(), parts.end(), sector,
            [](const WrittenPart& part, std::int64_t wanted) { return part.sector < wanted; });
        if (found != parts.end() && found->sector == sector) found->bytes = whole;
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
    const auto add = [&](const SectorRows& to, std::int64_t& count, std::int64_t of, std::int64_t sector,
                         std::int64_t row) {
        to.block[count] = of, to.sector[count] = sector, to.instruction[count] = instruction[row];
        ++count;
    };
    std::fill_n(counts, 3, 0);
    std::vector<WrittenPart> parts;
    for_each_sector(stream, [&](std::int32_t of, const TouchedLine& touched, int place, std::int64_t sector) {
        const std::int64_t used = touched.first_use[place], written = touched.first_write[place];
        if (kind[used] & 1) add({read_block, read_sector, read_instruction}, counts[0], of, sector, used);
        if (written == kNobody) return;
        add({written_block, written_sector, written_instruction}, counts[1], of, sector, written);
        const double bytes = touched.bytes_written[place];
        if (bytes > 0 && bytes < whole) parts.push_back({sector, bytes});
    });
    counts[2] = partly_written(stream, parts, whole, partly);
}
