#pragma once

#include <cstdint>

namespace warpwatt::caches {

inline constexpr int kSectorsPerLine = 4;  // of 32 bytes each
inline constexpr unsigned kSectorBits = (1U << kSectorsPerLine) - 1;

// How many sectors of a line are touched, a bit for each in the lowest four.
constexpr int sectors_in(std::uint64_t line) {
    constexpr std::uint64_t kCounts = 0x4332322132212110;  // a digit for each set of bits
    return static_cast<int>(kCounts >> (line & kSectorBits) * 4 & 7);
}

}  // namespace warpwatt::caches
