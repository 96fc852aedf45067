// The constant caches as the warps of a run use them: the indexed constant cache of the SM, which LDC and
// ULDC read, and the L1.5 constant cache behind it (Jia et al. 2019, "Dissecting the NVidia Turing T4 GPU via
// Microbenchmarking", table 3.1: 2 KiB of lines of 64 bytes and 46 KiB of lines of 256 bytes).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace warpwatt::emulate {

// The lines last used, the latest first.
template <int kLines>
class RecentLines {
public:
    // Uses a line; returns the misses to count. Constants that fit miss once in a launch, which counts for
    // nothing; the lines that came before the first that does not fit are counted with it.
    int use(std::uint32_t line) {
        const auto end = lines_.begin() + count_;
        const auto place = std::find(lines_.begin(), end, line);
        const bool fits = place != end || count_ < kLines;
        if (place == end && fits) ++count_;
        std::copy_backward(lines_.begin(), fits ? place : end - 1, fits ? place + 1 : end);
        lines_[0] = line;
        if (fits) return 0;
        return std::exchange(overflowed_, true) ? 1 : 1 + kLines;
    }

private:
    std::array<std::uint32_t, kLines> lines_;
    std::int32_t count_;
    bool overflowed_;
};

inline constexpr int kConstantLineShift = 6, kFarConstantLineShift = 8;

// As one warp sees it: what others load does not come in time for it, see sm::ConstantCache.
using IndexedConstantCache = RecentLines<(2 << 10 >> kConstantLineShift)>;
using L15ConstantCache = RecentLines<(46 << 10 >> kFarConstantLineShift)>;

}  // namespace warpwatt::emulate
