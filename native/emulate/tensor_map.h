// A tensor map (CUtensorMap, cuda.h: cuTensorMapEncodeTiled), 128 bytes: a tensor in global memory and the
// box of it that one copy moves. Where its fields lie was read off what ptxas makes of `tensormap.replace`
// (warpwatt.emulate.tensor_map writes the same).
#pragma once

#include <array>
#include <cstdint>

namespace warpwatt::emulate {

inline constexpr int kTensorMapBytes = 128, kMostDimensions = 5;

enum class TensorElement : std::int32_t {  // CUtensorMapDataType
    kUint8,
    kUint16,
    kUint32,
    kInt32,
    kUint64,
    kInt64,
    kFloat16,
    kFloat32,
    kFloat64,
    kBfloat16,
    kFloat32Ftz,
    kTfloat32,
    kTfloat32Ftz,
    kFourBitsBy8,
    kFourBitsBy16,
    kSixBitsBy16
};

struct TensorMap {
    std::uint64_t address;
    int rank;
    TensorElement element;
    int element_bits;
    int swizzle_bytes;  // 0: none, else the span that rows are permuted in: 32, 64 or 128
    std::array<std::int64_t, kMostDimensions> extents, strides, box, steps;  // strides in bytes, [0] unused

    static TensorMap decode(const unsigned char* bytes);

    // Where a byte of the box lies in shared memory, by its place in the plain box and the box's address.
    std::uint64_t swizzled(std::uint64_t address) const;
};

}  // namespace warpwatt::emulate
