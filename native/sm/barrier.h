// The barriers of a block: sixteen counters of warps that have arrived.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace warpwatt::sm {

class BlockBarriers {
public:
    static constexpr int kBarriers = 16;

    void reset() { arrived_.fill(0); }
    void arrive(int barrier) { ++arrived_[barrier]; }

    // Returns whether a barrier lets its warps go, which empties it: all that are `wanted` (0: all of the
    // block) have arrived. Warps that have left are not waited for.
    bool complete(int barrier, std::int32_t live_warps, std::int32_t wanted) {
        const std::int32_t expected = wanted > 0 ? std::min(live_warps, wanted) : live_warps;
        if (arrived_[barrier] == 0 || arrived_[barrier] < expected) return false;
        arrived_[barrier] = 0;
        return true;
    }

private:
    std::array<std::int32_t, kBarriers> arrived_{};
};

}  // namespace warpwatt::sm
