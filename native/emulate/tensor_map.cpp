#include "emulate/tensor_map.h"

#include <cstring>

namespace warpwatt::emulate {

namespace {

std::uint32_t word_at(const unsigned char* bytes, int offset) {
    std::uint32_t word;
    std::memcpy(&word, bytes + offset, sizeof word);
    return word;
}

int bits_of(TensorElement element) {
    switch (element) {
        case TensorElement::kUint8:
            return 8;
        case TensorElement::kUint16:
        case TensorElement::kFloat16:
        case TensorElement::kBfloat16:
            return 16;
        case TensorElement::kUint64:
        case TensorElement::kInt64:
        case TensorElement::kFloat64:
            return 64;
        case TensorElement::kFourBitsBy8:
        case TensorElement::kFourBitsBy16:
            return 4;
        case TensorElement::kSixBitsBy16:
            return 6;
        default:
            return 32;
    }
}

}  // namespace

TensorMap TensorMap::decode(const unsigned char* bytes) {
    TensorMap map{};
    std::memcpy(&map.address, bytes, sizeof map.address);
    const std::uint32_t kind = word_at(bytes, 0x08), high = word_at(bytes, 0x1C);
    map.rank = static_cast<int>(kind >> 4 & 7) + 1;
    map.element = static_cast<TensorElement>(kind >> 7 & 15);
    map.element_bits = bits_of(map.element);
    const int swizzle = static_cast<int>(kind >> 13 & 3);
    map.swizzle_bytes = swizzle == 0 ? 0 : 16 << swizzle;
    const std::uint32_t first = word_at(bytes, 0x34);
    for (int axis = 0; axis < kMostDimensions; ++axis) {
        map.extents[axis] = std::int64_t{word_at(bytes, 0x20 + 4 * axis)} + 1;
        map.steps[axis] = (first >> 3 * axis & 7) + 1;
        map.box[axis] = axis == 0 ? (first >> 24) + 1 : std::int64_t{bytes[0x38 + axis - 1]} + 1;
        if (axis == 0) continue;
        const std::uint64_t upper = high >> 4 * (axis - 1) & 15;
        map.strides[axis] =
            static_cast<std::int64_t>((upper << 32 | word_at(bytes, 0x0C + 4 * (axis - 1))) << 4);
    }
    if (map.rank > kMostDimensions) map.rank = kMostDimensions;
    return map;
}

std::uint64_t TensorMap::swizzled(std::uint64_t address) const {
    if (swizzle_bytes == 0) return address;
    const std::uint64_t chunks = swizzle_bytes / 16 - 1;
    return address ^ (address >> 3 & chunks << 4);
}

}  // namespace warpwatt::emulate
