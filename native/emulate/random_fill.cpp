#include "emulate/random_fill.h"

#include <algorithm>
#include <cstring>

#include "c_api.h"
#include "emulate/machine.h"
#include "vectors.h"

namespace warpwatt::emulate {

namespace {

constexpr std::int64_t kRandom = 1;  // in warpwatt.emulate.memory.FILL_KINDS

template <typename Element, typename Make>
void fill(unsigned char* to, std::uint64_t key, std::int64_t first, std::int64_t count, Make make) {
    for (std::int64_t i = 0; i < count; ++i) {
        const Element value = make(split_mix(key, first + i));
        std::memcpy(to + i * sizeof(Element), &value, sizeof(Element));
    }
}

template <typename Integer>
constexpr Integer upper_seven_bits(std::uint64_t bits) {
    return static_cast<Integer>(bits >> 57);
}

}  // namespace

WARPWATT_WIDE_VECTORS void fill_random(unsigned char* to, ElementType type, std::uint64_t key,
                                       std::int64_t first, std::int64_t count) {
    if (type == ElementType::kF32) {
        const auto fraction = [](std::uint64_t bits) {
            return static_cast<float>(static_cast<std::int32_t>(bits >> 40)) * 0x1p-24F;
        };
        return fill<float>(to, key, first, count, fraction);
    }
    if (type == ElementType::kF64) {
        const auto fraction = [](std::uint64_t bits) {
            return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53;
        };
        return fill<double>(to, key, first, count, fraction);
    }
    switch (element_bytes(type)) {
        case 1:
            return fill<std::uint8_t>(to, key, first, count, upper_seven_bits<std::uint8_t>);
        case 2:
            return fill<std::uint16_t>(to, key, first, count, upper_seven_bits<std::uint16_t>);
        case 4:
            return fill<std::uint32_t>(to, key, first, count, upper_seven_bits<std::uint32_t>);
        default:
            return fill<std::uint64_t>(to, key, first, count, upper_seven_bits<std::uint64_t>);
    }
}

bool fill_page(const GlobalMemory& memory, std::int64_t slot, std::int64_t page) {
    const std::int64_t kind = memory.fill_kinds[slot];
    const auto type = static_cast<ElementType>(kind & 0xFF);
    if (kind >> 8 != kRandom || !can_fill(type)) return false;
    const std::int64_t size = element_bytes(type), start = page << kPageShift;
    const std::int64_t stop = std::min(start + kPageBytes, memory.sizes[slot]);
    fill_random(memory.bases[slot] + start, type, memory.fill_keys[slot], start / size,
                (stop - start) / size);
    memory.page_flags[slot][page] = 1;
    return true;
}

}  // namespace warpwatt::emulate

// For tests against warpwatt.emulate.fills; `type` is the element type's place in DTYPES.
WARPWATT_API void fill_random(unsigned char* to, std::int64_t type, std::uint64_t key, std::int64_t first,
                              std::int64_t count) {
    using warpwatt::emulate::ElementType;
    warpwatt::emulate::fill_random(to, static_cast<ElementType>(type), key, first, count);
}
