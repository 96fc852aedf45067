// Which lines blocks come to by some instructions, when first, and what they touch of them: ordered by line,
// so that blocks that share a line stand together.
#pragma once

#include <cstdint>
#include <vector>

#include "caches/line.h"

namespace warpwatt::caches {

struct LineVisit {
    std::int64_t line, time;  // of the first access
    std::int32_t block;
    std::uint8_t sectors;  // a bit for each that is touched
};

// Rows of a stream, a line of an access each; those of a block stand together, blocks ascending.
struct VisitRows {
    std::int64_t count;
    const std::int64_t *line, *time;
    const std::int32_t *block, *instruction;
    const std::uint8_t* sectors;
    const std::uint8_t* wanted;  // by instruction: whether its rows count
};

// One for each line of each block, by line, then block.
std::vector<LineVisit> visits_of(const VisitRows& rows);

}  // namespace warpwatt::caches
