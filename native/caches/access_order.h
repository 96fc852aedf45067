// When the accesses of a thread block's warps come: warps take turns, access by access, and a barrier waits
// for the slowest of them.
#pragma once

#include <cstdint>
#include <vector>

namespace warpwatt::caches {

// The accesses of a block's warps in the order of each, told one after the other: first all are counted,
// then they have times.
class AccessOrder {
public:
    explicit AccessOrder(std::int64_t warps) : counts_(warps), waited_(warps) {}

    // Begins with another block.
    void clear();

    // An access of a warp that has passed so many barriers before.
    void count(std::int64_t warp, std::int64_t barriers);
    // To be called when all are counted.
    void finish();

    // When the `place`-th access of a warp comes, which has passed so many barriers before.
    std::int64_t time(std::int64_t warp, std::int64_t barriers, std::int64_t place) const {
        return place + waited_[warp][barriers];
    }

private:
    std::vector<std::vector<std::int64_t>> counts_;  // by warp and barriers passed
    std::vector<std::vector<std::int64_t>> waited_;  // turns that a warp has let pass at barriers until then
};

}  // namespace warpwatt::caches
