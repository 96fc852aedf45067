// Pages of buffers that begin as random numbers, ones or a range: random element i of a buffer comes from
// output number i of SplitMix64 (warpwatt.emulate.fills is the specification).
#pragma once

#include <cstdint>

namespace warpwatt::emulate {

struct GlobalMemory;

// Small, because gathers from all over a buffer use a few bytes of each.
inline constexpr int kPageShift = 9;
inline constexpr std::int64_t kPageBytes = std::int64_t{1} << kPageShift;
inline constexpr std::int64_t kMadeInPython = 4096;  // bytes of aligned pages that are made by one call

// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014): 64 random bits.
constexpr std::uint64_t split_mix(std::uint64_t key, std::uint64_t index) {
    std::uint64_t z = (index + 1) * 0x9E3779B97F4A7C15 + key;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// Element types, in the order of warpwatt.emulate.memory.DTYPES.
enum class ElementType : std::int32_t {
    kF16,
    kBF16,
    kF32,
    kF64,
    kI8,
    kU8,
    kI16,
    kU16,
    kI32,
    kU32,
    kI64,
    kU64,
    kE4M3,
    kE5M2
};

constexpr bool is_integer(ElementType type) { return type >= ElementType::kI8 && type <= ElementType::kU64; }

constexpr std::int64_t element_bytes(ElementType type) {
    if (type <= ElementType::kBF16) return 2;
    if (type == ElementType::kF32) return 4;
    if (type == ElementType::kF64) return 8;
    if (!is_integer(type)) return 1;
    return std::int64_t{1} << ((static_cast<int>(type) - static_cast<int>(ElementType::kI8)) / 2);
}

// What a buffer begins as: warpwatt.emulate.memory.FILL_KINDS.
enum class FillKind : std::int64_t { kRandom = 1, kOnes, kRange, kIndices, kOffsets };

// Writes `count` elements from number `first` on: floats in [0, 1), integers 0 to 127.
void fill_random(unsigned char* to, ElementType type, std::uint64_t key, std::int64_t first,
                 std::int64_t count);

// Writes elements of any kind; false where they are made in Python. `factor`: of indices their limit, of
// offsets the elements of a row.
bool fill_elements(unsigned char* to, FillKind kind, ElementType type, std::uint64_t key, double factor,
                   std::int64_t first, std::int64_t count);

// What the byte of a page in GlobalMemory::page_flags says; others count how often it was read before.
inline constexpr unsigned char kMade = 1;
// From so many reads on a page is made: until then what is read of it costs less.
inline constexpr unsigned char kReadOften = 32;

// Writes what some bytes of a buffer begin as; false if they are no whole elements, or made in Python.
bool fill_part(const GlobalMemory& memory, std::int64_t slot, std::int64_t offset, std::int64_t bytes,
               unsigned char* to);

// Makes a page of a buffer that is filled so; false if the buffer is of another kind.
bool fill_page(const GlobalMemory& memory, std::int64_t slot, std::int64_t page);

}  // namespace warpwatt::emulate
