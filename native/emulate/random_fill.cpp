#include "emulate/random_fill.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "c_api.h"
#include "emulate/machine.h"
#include "vectors.h"

namespace warpwatt::emulate {

namespace {

template <typename Element, typename Make>
void fill(unsigned char* to, std::int64_t first, std::int64_t count, Make make) {
    for (std::int64_t i = 0; i < count; ++i) {
        const Element value = make(first + i);
        std::memcpy(to + i * sizeof(Element), &value, sizeof(Element));
    }
}

// Calls `visit` with a number of an integer type's width.
template <typename Visit>
void with_width(ElementType type, Visit visit) {
    switch (element_bytes(type)) {
        case 1:
            return visit(std::uint8_t{});
        case 2:
            return visit(std::uint16_t{});
        case 4:
            return visit(std::uint32_t{});
        default:
            return visit(std::uint64_t{});
    }
}

// Exponent bias and bits of the fraction of the floats shorter than 32 bits.
struct ShortFloat {
    int bias, fraction;
    std::uint16_t one() const { return static_cast<std::uint16_t>(bias << fraction); }
};

constexpr ShortFloat short_float(ElementType type) {
    if (type == ElementType::kF16) return {15, 10};
    if (type == ElementType::kBF16) return {127, 7};
    return type == ElementType::kE4M3 ? ShortFloat{7, 3} : ShortFloat{15, 2};
}

// The bits of `number` / 2^(fraction + 1), which the type represents exactly, as a normal number.
constexpr std::uint16_t fraction_of_one(ShortFloat type, std::uint64_t number) {
    if (number == 0) return 0;
    const int width = static_cast<int>(std::bit_width(number)),
              exponent = width - type.fraction - 2 + type.bias;
    const std::uint64_t leading = number << (type.fraction + 1 - width);  // its highest one at `fraction`
    return static_cast<std::uint16_t>((exponent << type.fraction) + (leading - (1 << type.fraction)));
}

template <typename Element>
void fill_short(unsigned char* to, ShortFloat type, std::uint64_t key, std::int64_t first,
                std::int64_t count) {
    fill<Element>(to, first, count, [&](std::int64_t i) {
        return static_cast<Element>(fraction_of_one(type, split_mix(key, i) >> (63 - type.fraction)));
    });
}

void fill_ones(unsigned char* to, ElementType type, std::int64_t count) {
    const auto one = short_float(type).one();
    if (type == ElementType::kF32) return fill<float>(to, 0, count, [](auto) { return 1.0F; });
    if (type == ElementType::kF64) return fill<double>(to, 0, count, [](auto) { return 1.0; });
    with_width(type, [&](auto width) {
        using Element = decltype(width);
        fill<Element>(to, 0, count, [&](auto) { return static_cast<Element>(is_integer(type) ? 1 : one); });
    });
}

// The upper half of random bits, as a fraction of one.
constexpr double upper_half(std::uint64_t bits) { return static_cast<double>(bits >> 32) * 0x1p-32; }

// Writes whole numbers that `make` returns.
template <typename Make>
void fill_whole(unsigned char* to, ElementType type, std::int64_t first, std::int64_t count, Make make) {
    if (type == ElementType::kF32)
        return fill<float>(to, first, count, [&](std::int64_t i) { return static_cast<float>(make(i)); });
    if (type == ElementType::kF64)
        return fill<double>(to, first, count, [&](std::int64_t i) { return static_cast<double>(make(i)); });
    with_width(type, [&](auto width) {
        using Element = decltype(width);
        fill<Element>(to, first, count, [&](std::int64_t i) { return static_cast<Element>(make(i)); });
    });
}

}  // namespace

WARPWATT_WIDE_VECTORS void fill_random(unsigned char* to, ElementType type, std::uint64_t key,
                                       std::int64_t first, std::int64_t count) {
    if (type == ElementType::kF32)
        return fill<float>(to, first, count, [&](std::int64_t i) {
            return static_cast<float>(static_cast<std::int32_t>(split_mix(key, i) >> 40)) * 0x1p-24F;
        });
    if (type == ElementType::kF64)
        return fill<double>(to, first, count, [&](std::int64_t i) {
            return static_cast<double>(static_cast<std::int64_t>(split_mix(key, i) >> 11)) * 0x1p-53;
        });
    if (!is_integer(type)) {
        if (element_bytes(type) == 1)
            return fill_short<std::uint8_t>(to, short_float(type), key, first, count);
        return fill_short<std::uint16_t>(to, short_float(type), key, first, count);
    }
    with_width(type, [&](auto width) {
        using Element = decltype(width);
        fill<Element>(to, first, count,
                      [&](std::int64_t i) { return static_cast<Element>(split_mix(key, i) >> 57); });
    });
}

WARPWATT_WIDE_VECTORS bool fill_elements(unsigned char* to, FillKind kind, ElementType type,
                                         std::uint64_t key, double factor, std::int64_t first,
                                         std::int64_t count) {
    const bool whole = is_integer(type) || type == ElementType::kF32 || type == ElementType::kF64;
    if (kind != FillKind::kRandom && kind != FillKind::kOnes && !whole) return false;
    switch (kind) {
        case FillKind::kRandom:
            fill_random(to, type, key, first, count);
            return true;
        case FillKind::kOnes:
            fill_ones(to, type, count);
            return true;
        case FillKind::kRange:
            fill_whole(to, type, first, count, [](std::int64_t i) { return i; });
            return true;
        case FillKind::kIndices:
            fill_whole(to, type, first, count, [&](std::int64_t i) {
                return static_cast<std::int64_t>(upper_half(split_mix(key, i)) * factor);
            });
            return true;
        case FillKind::kOffsets:
            fill_whole(to, type, first, count, [&](std::int64_t i) {
                return static_cast<std::int64_t>((static_cast<double>(i) + upper_half(split_mix(key, i))) *
                                                 factor);
            });
            return true;
    }
    return false;
}

bool fill_part(const GlobalMemory& memory, std::int64_t slot, std::int64_t offset, std::int64_t bytes,
               unsigned char* to) {
    const std::int64_t code = memory.fill_kinds[slot];
    if (code == 0) return false;
    const auto type = static_cast<ElementType>(code & 0xFF);
    const std::int64_t size = element_bytes(type);
    return offset % size == 0 && bytes % size == 0 &&
           fill_elements(to, static_cast<FillKind>(code >> 8), type, memory.fill_keys[slot],
                         memory.fill_factors[slot], offset / size, bytes / size);
}

bool fill_page(const GlobalMemory& memory, std::int64_t slot, std::int64_t page) {
    const std::int64_t code = memory.fill_kinds[slot];
    if (code == 0) return false;
    const auto type = static_cast<ElementType>(code & 0xFF);
    const std::int64_t size = element_bytes(type), start = page << kPageShift;
    const std::int64_t stop = std::min(start + kPageBytes, memory.sizes[slot]);
    if (!fill_elements(memory.bases[slot] + start, static_cast<FillKind>(code >> 8), type,
                       memory.fill_keys[slot], memory.fill_factors[slot], start / size,
                       (stop - start) / size))
        return false;
    memory.page_flags[slot][page] = kMade;
    return true;
}

}  // namespace warpwatt::emulate

// For tests against warpwatt.emulate.fills; `kind` and `type` are the places of a fill and of an element type
// in FILL_KINDS and DTYPES. Whether the elements are made here.
WARPWATT_API std::int64_t fill_elements(unsigned char* to, std::int64_t kind, std::int64_t type,
                                        std::uint64_t key, double factor, std::int64_t first,
                                        std::int64_t count) {
    using namespace warpwatt::emulate;
    return fill_elements(to, static_cast<FillKind>(kind), static_cast<ElementType>(type), key, factor, first,
                         count);
}
