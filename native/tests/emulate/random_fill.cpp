#include "emulate/random_fill.h"

#include <array>
#include <cstring>

#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

// The first output of the authors' splitmix64.c for seed 0.
void the_generator_is_split_mix() {
    CHECK(split_mix(0, 0) == 0xE220A8397B1DCDAF);
    CHECK(split_mix(0, 1) == 0x6E789E6AA1B965F4);
}

void floats_are_the_upper_bits_as_a_fraction() {
    std::array<float, 100> values;
    fill_random(reinterpret_cast<unsigned char*>(values.data()), ElementType::kF32, 5, 10, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        CHECK_NEAR(values[i], static_cast<double>(split_mix(5, 10 + i) >> 40) / (1 << 24), 0.0);
}

void doubles_have_53_bits() {
    double value;
    fill_random(reinterpret_cast<unsigned char*>(&value), ElementType::kF64, 0, 0, 1);
    CHECK_NEAR(value, static_cast<double>(0xE220A8397B1DCDAFULL >> 11) * 0x1p-53, 0.0);
}

void integers_of_every_width_are_seven_bits() {
    for (int type = static_cast<int>(ElementType::kI8); type <= static_cast<int>(ElementType::kU64); ++type) {
        const auto element = static_cast<ElementType>(type);
        std::array<unsigned char, 64> bytes;
        bytes.fill(0xFF);
        fill_random(bytes.data(), element, 1, 0, 4);
        std::uint64_t last = 0;
        std::memcpy(&last, bytes.data() + 3 * element_bytes(element), element_bytes(element));
        CHECK(last == split_mix(1, 3) >> 57);
        CHECK(bytes[4 * element_bytes(element)] == 0xFF);
    }
}

// 11 bits of 0xE22 as a fraction are 0x711 / 2048: 1.53... times a half.
void halves_have_eleven_bits() {
    std::uint16_t value;
    fill_random(reinterpret_cast<unsigned char*>(&value), ElementType::kF16, 0, 0, 1);
    CHECK(value == (14 << 10 | (0x711 - 0x400)));
}

void ranges_of_short_floats_are_made_elsewhere() {
    std::uint16_t value;
    auto* const room = reinterpret_cast<unsigned char*>(&value);
    CHECK(!fill_elements(room, FillKind::kRange, ElementType::kF16, 0, 0, 0, 1));
    CHECK(fill_elements(room, FillKind::kRange, ElementType::kU16, 0, 0, 7, 1) && value == 7);
}

}  // namespace

int main() {
    the_generator_is_split_mix();
    floats_are_the_upper_bits_as_a_fraction();
    doubles_have_53_bits();
    integers_of_every_width_are_seven_bits();
    halves_have_eleven_bits();
    ranges_of_short_floats_are_made_elsewhere();
    return warpwatt::test::failures();
}
