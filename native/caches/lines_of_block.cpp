#include "caches/lines_of_block.h"

#include <algorithm>
#include <bit>

namespace warpwatt::caches {

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

std::int64_t longest_run(const std::int32_t* blocks, std::int64_t count) {
    std::int64_t longest = 1, start = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (blocks[i] != blocks[start]) start = i;
        longest = std::max(longest, i - start + 1);
    }
    return longest;
}

}  // namespace warpwatt::caches
