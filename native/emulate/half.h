// IEEE 754 binary16 numbers, as bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace warpwatt::emulate {

inline double from_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        size = fraction == 0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
        size = std::ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

// The nearest half, ties to even.
inline std::uint16_t to_half(double number) {
    if (std::isnan(number)) return 0x7FFF;
    const int sign = std::signbit(number) ? 0x8000 : 0;
    const double size = std::fabs(number);
    if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00);
    int exponent = -14;
    while (exponent < 15 && size >= std::ldexp(1.0, exponent + 1)) ++exponent;
    const int units =
        static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));  // 1024 to 2048 if normal
    return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + units));
}

}  // namespace warpwatt::emulate
