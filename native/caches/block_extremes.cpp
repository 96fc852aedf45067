#include "caches/block_extremes.h"

#include <algorithm>
#include <bit>

#include "c_api.h"

namespace warpwatt::caches {

void BlockExtremes::add(std::int32_t instruction, std::int32_t block, std::int64_t line,
                        std::uint8_t sectors) {
    const unsigned touched = sectors & ((1U << kSectorsPerLine) - 1);
    if (touched == 0) return;
    const std::int64_t place = instruction * blocks_ + block, first = line * kSectorsPerLine;
    lowest_[place] = std::min(lowest_[place], first + std::countr_zero(touched));
    highest_[place] = std::max(highest_[place], first + std::bit_width(touched) - 1);
}

}  // namespace warpwatt::caches

// Fills tables of `instructions` rows and `blocks` columns from the rows of a stream.
WARPWATT_API void block_extremes(std::int64_t rows, const std::int32_t* instruction,
                                 const std::int32_t* block, const std::int64_t* line,
                                 const std::uint8_t* sectors, std::int64_t instructions, std::int64_t blocks,
                                 std::int64_t* lowest, std::int64_t* highest) {
    using namespace warpwatt::caches;
    std::fill_n(lowest, instructions * blocks, kAboveAll);
    std::fill_n(highest, instructions * blocks, kBelowAll);
    BlockExtremes extremes(blocks, lowest, highest);
    for (std::int64_t row = 0; row < rows; ++row)
        extremes.add(instruction[row], block[row], line[row], sectors[row]);
}
