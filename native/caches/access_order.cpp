#include "caches/access_order.h"

#include <algorithm>

namespace warpwatt::caches {

void AccessOrder::clear() {
    for (auto& counts : counts_) counts.clear();
}

void AccessOrder::count(std::int64_t warp, std::int64_t barriers) {
    auto& counts = counts_[warp];
    if (static_cast<std::int64_t>(counts.size()) <= barriers) counts.resize(barriers + 1);
    ++counts[barriers];
}

void AccessOrder::finish() {
    std::size_t phases = 0;
    for (const auto& counts : counts_) phases = std::max(phases, counts.size());
    for (std::size_t warp = 0; warp < counts_.size(); ++warp) {
        counts_[warp].resize(phases);
        waited_[warp].assign(phases, 0);
    }
    for (std::size_t phase = 1; phase < phases; ++phase) {
        std::int64_t most = 0;
        for (const auto& counts : counts_) most = std::max(most, counts[phase - 1]);
        for (std::size_t warp = 0; warp < counts_.size(); ++warp)
            waited_[warp][phase] = waited_[warp][phase - 1] + most - counts_[warp][phase - 1];
    }
}

}  // namespace warpwatt::caches
