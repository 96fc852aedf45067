// Driver API: tensor maps, in the encoding that emulate/tensor_map.h reads.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "emulate/tensor_map.h"
#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

namespace {

constexpr int kMostSwizzles = 7, kMostInterleaves = 3, kMostElements = 16;
constexpr unsigned kMostBox = 256, kMostStep = 8;

struct Encoding {  // CUtensorMap
    alignas(64) unsigned char bytes[emulate::kTensorMapBytes];

    template <typename Number>
    void put(int offset, Number number) {
        std::memcpy(bytes + offset, &number, sizeof number);
    }
};

// Bits of shared memory that an element takes; three quarters of those of packed elements hold data.
int bits_in_shared(int element) {
    constexpr int kBits[kMostElements] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 8, 8};
    return kBits[element];
}

// CU_TENSOR_MAP_SWIZZLE_...: bytes within which chunks are permuted, and how large chunks are (32, 32 with
// its halves of 16 exchanged, 64; else 16), as codes.
struct Swizzle {
    unsigned span, chunk;
};
constexpr Swizzle kSwizzles[kMostSwizzles] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};

bool all_between(const auto* numbers, unsigned count, std::uint64_t least, std::uint64_t most) {
    return std::all_of(numbers, numbers + count,
                       [&](std::uint64_t number) { return number >= least && number <= most; });
}

}  // namespace

RUNTIME_API CUresult cuTensorMapEncodeTiled(Encoding* map, int element, unsigned rank, const void* address,
                                            const std::uint64_t* extents, const std::uint64_t* strides,
                                            const unsigned* box, const unsigned* steps, int interleave,
                                            int swizzle, int /* promotion to L2 sectors */, int fill) {
    if (!map || rank < 1 || rank > emulate::kMostDimensions || element < 0 || element >= kMostElements ||
        swizzle < 0 || swizzle >= kMostSwizzles || interleave < 0 || interleave >= kMostInterleaves ||
        (interleave != 0 && rank < 3))
        return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t unit = interleave == 2 ? 32 : 16;
    if (!all_between(extents, rank, 1, std::uint64_t{1} << 32) || !all_between(box, rank, 1, kMostBox) ||
        !all_between(steps, rank, 1, kMostStep) || number_of(address) % unit != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned axis = 0; axis + 1 < rank; ++axis)
        if (strides[axis] % unit != 0 || strides[axis] >= std::uint64_t{1} << 40)
            return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t row = std::uint64_t{box[0]} * bits_in_shared(element) / 8;
    const Swizzle& how = kSwizzles[swizzle];
    if (interleave == 0 && (row % 16 != 0 || (how.span && row > std::uint64_t{16} << how.span)))
        return CUDA_ERROR_INVALID_VALUE;

    *map = {};
    map->put(0x00, number_of(address));
    map->put(0x08, (rank - 1) << 4 | static_cast<unsigned>(element) << 7 |
                       static_cast<unsigned>(interleave) << 11 | how.span << 13 |
                       static_cast<unsigned>(fill & 1) << 15 | how.chunk << 19);
    std::uint32_t upper = 0, first = (box[0] - 1) << 24;
    for (unsigned axis = 0; axis < rank; ++axis) {
        map->put(0x20 + 4 * static_cast<int>(axis), static_cast<std::uint32_t>(extents[axis] - 1));
        first |= (steps[axis] - 1) << 3 * axis;
        if (axis == 0) continue;
        const std::uint64_t stride = strides[axis - 1] >> 4;
        map->put(0x08 + 4 * static_cast<int>(axis), static_cast<std::uint32_t>(stride));
        upper |= static_cast<std::uint32_t>(stride >> 32 & 15) << 4 * (axis - 1);
        map->put(0x37 + static_cast<int>(axis), static_cast<std::uint8_t>(box[axis] - 1));
    }
    map->put(0x1C, upper);
    map->put(0x34, first);
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuTensorMapReplaceAddress(Encoding* map, const void* address) {
    if (!map || number_of(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    map->put(0x00, number_of(address));
    return CUDA_SUCCESS;
}

}  // namespace warpwatt::runtime
