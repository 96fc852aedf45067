// Prefix sums of an array that changes, both in logarithmic time (Fenwick, "A new data structure for
// cumulative frequency tables", Software: Practice and Experience 24(3), 1994).
#pragma once

#include <cstdint>
#include <vector>

namespace warpwatt::caches {

class FenwickTree {
public:
    explicit FenwickTree(std::int64_t size) : cells_(static_cast<std::size_t>(size) + 1, 0.0) {}

    // The sum of places 0 to `end` (exclusive).
    double prefix_sum(std::int64_t end) const {
        double sum = 0.0;
        for (; end > 0; end &= end - 1) sum += cells_[end];
        return sum;
    }

    void add(std::int64_t place, double value) {
        const auto size = static_cast<std::int64_t>(cells_.size());
        for (++place; place < size; place += place & -place) cells_[place] += value;
    }

private:
    std::vector<double> cells_;  // from 1: cell i sums the last (i & -i) places up to i
};

}  // namespace warpwatt::caches
