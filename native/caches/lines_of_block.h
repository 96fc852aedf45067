// The lines that one thread block after the other touches, found by their number.
#pragma once

#include <cstdint>
#include <vector>

namespace warpwatt::caches {

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

// The most rows in a row of one block: no block touches more lines.
std::int64_t longest_run(const std::int32_t* blocks, std::int64_t count);

}  // namespace warpwatt::caches
