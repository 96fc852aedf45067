// The lowest and the highest sector that each thread block touches by each instruction.
#pragma once

#include <cstdint>
#include <limits>

#include "caches/line.h"

namespace warpwatt::caches {

inline constexpr std::int64_t kAboveAll = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kBelowAll = std::numeric_limits<std::int64_t>::min();

// A table of sectors with a row for each instruction and a column for each block: kAboveAll and kBelowAll
// where a block touches nothing by an instruction.
class BlockExtremes {
public:
    BlockExtremes(std::int64_t blocks, std::int64_t* lowest, std::int64_t* highest)
        : blocks_(blocks), lowest_(lowest), highest_(highest) {}

    // A line of which some sectors are touched: a bit of `sectors` for each, at least one.
    void add(std::int32_t instruction, std::int32_t block, std::int64_t line, std::uint8_t sectors);

private:
    std::int64_t blocks_;
    std::int64_t* lowest_;
    std::int64_t* highest_;
};

}  // namespace warpwatt::caches
