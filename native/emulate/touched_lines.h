// Coalescing: the 128-byte lines and 32-byte sectors of off-chip memory that one request touches
// (CUDA C++ Programming Guide, compute capability 5.x and later).
#pragma once

#include <array>
#include <cstdint>

#include "emulate/lanes.h"
#include "emulate/memory_operation.h"

namespace warpwatt::emulate {

inline constexpr int kSectorShift = 5, kLineShift = 7;
inline constexpr int kTagBanks = 4;  // looked up together
inline constexpr int kMostLines =
    kLanes * kMostBytes / 4;  // each lane's words, in local memory, on lines apart

struct TouchedLine {
    std::uint64_t line;  // byte address / 128
    std::uint32_t sectors;
};

class TouchedLines {
public:
    // Touches each sector of `bytes` bytes from `address` on; for ranges in ascending order it is fastest.
    void add(std::uint64_t address, std::int64_t bytes);
    void add(const TouchedLines& others);
    // Adds a line behind all others.
    void append(TouchedLine line) { lines_[size_++] = line; }
    // Touches an access of `bytes` bytes per lane.
    void add_lanes(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes, std::int64_t bytes);

    int size() const { return size_; }
    const TouchedLine* begin() const { return lines_.data(); }
    const TouchedLine* end() const { return lines_.data() + size_; }

    int sectors() const;
    // Passes through the tags of L1: the most lines that fall on one tag bank, which is the exclusive or of
    // all pairs of a line's bits (warpwatt.program.transactions.tag_passes has the source).
    int tag_passes() const;

private:
    void touch(std::uint64_t line, std::uint32_t sectors);

    int size_ = 0;
    std::array<TouchedLine, kMostLines> lines_;  // ascending
};

}  // namespace warpwatt::emulate
