// Barrier objects in shared memory (PTX ISA, "mbarrier"), a 64-bit word each, whose fields atomic additions
// change in any order: from the lowest bit pending arrivals (20 bits), bytes still to come (22, plus 2^20),
// expected arrivals (20), phase (2). warpwatt.emulate.lift.barriers has the same.
#pragma once

#include <cstdint>

namespace warpwatt::emulate {

inline constexpr int kBytesShift = 20, kExpectedShift = 42, kPhaseShift = 62;
inline constexpr std::uint64_t kNoBytes = std::uint64_t{1} << 20;

constexpr std::uint64_t phase_parity(std::uint64_t word) { return word >> kPhaseShift & 1; }

// The word after a change: in its next phase if nothing is left to wait for.
constexpr std::uint64_t change_barrier_object(std::uint64_t word, std::uint64_t change) {
    word += change;
    constexpr std::uint64_t kOpen = (std::uint64_t{1} << kExpectedShift) - 1;
    if ((word & kOpen) != kNoBytes << kBytesShift) return word;
    const std::uint64_t expected = word >> kExpectedShift & (kNoBytes - 1);
    return word + expected + (std::uint64_t{1} << kPhaseShift);
}

// The word when so many bytes have come.
constexpr std::uint64_t complete_bytes(std::uint64_t word, std::uint64_t bytes) {
    return change_barrier_object(word, -(bytes << kBytesShift));
}

}  // namespace warpwatt::emulate
