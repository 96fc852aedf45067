// Which accesses of a turn come to a sector that another access of the same turn has come to before.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "caches/line.h"
#include "caches/lines_of_block.h"

namespace warpwatt::caches {

inline constexpr double kFirst = -1.0;

// The distances at which the sectors of lines were first read in the turn at hand.
class FirstInTurn {
public:
    explicit FirstInTurn(std::int64_t longest_turn) : lines_(longest_turn) {}

    void start_turn() { lines_.start_block(firsts_.size()); }

    // For each sector of a line that an access reads, the distance at which the first one of the turn did;
    // kFirst for that one itself, and for sectors that are not read. A bit of `sectors` for each that is.
    std::array<double, kSectorsPerLine> read(std::int64_t line, unsigned sectors, const double* distances);

private:
    struct First {
        unsigned sectors;
        std::array<double, kSectorsPerLine> distances;
    };
    LinesOfBlock lines_;
    std::vector<First> firsts_;
};

}  // namespace warpwatt::caches
