// Where addresses lead. Device addresses carry a slot above their 40-bit offset: a buffer's, or that of a
// window through which shared, local and constant memory are seen (warpwatt.emulate.layout).
#pragma once

#include <cstdint>

#include "emulate/machine.h"

namespace warpwatt::emulate {

inline constexpr int kSlotShift = 40;
inline constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kSlotShift) - 1;
inline constexpr std::int64_t kSlots = 256;
inline constexpr std::int64_t kArenaSlot = 0x20;
inline constexpr std::int64_t kSharedSlot = 0xF0, kLocalSlot = 0xF1, kParameterSlot = 0xF2,
                              kConstantSlot = 0xF3;
inline constexpr std::int64_t kGridWorkspaceSlot = 0xF5;
inline constexpr int kParameterBank = 0, kConstantBank = 3;

constexpr std::int64_t slot_bits(std::uint64_t address) {
    return static_cast<std::int64_t>(address >> kSlotShift);
}
constexpr std::uint64_t offset_bits(std::uint64_t address) { return address & kOffsetMask; }

// The space that an address of an operation really lies in.
Space actual_space(Space space, std::uint64_t address);

// The constant bank that an operation reads at an address.
int bank_of(const MemoryOperation& operation, std::uint64_t address);

// The slot that an operation reaches in a space.
std::int64_t slot_of(const MemoryOperation& operation, Space space, std::uint64_t address);

// A piece of memory that belongs together: offsets from `begin` to before `size`, from `base` on.
struct Region {
    unsigned char* base;
    std::int64_t size;
    std::int64_t begin = 0;
};

// Shared memory of a block in a cluster: the block's rank stands above the offset (`mapa`, SASS SR_CgaCtaId).
inline constexpr int kClusterRankShift = 24;

// The block of a warp's cluster whose shared memory an address names; null if there is none.
Block* shared_block(const Machine& machine, const Warp& warp, std::uint64_t address);

// The memory that an address belongs to; of size 0 if there is none.
Region region_of(const Machine& machine, const Warp& warp, const MemoryOperation& operation, Space space,
                 std::uint64_t address);

// Makes the pages of a range of a buffer that have no contents yet.
void touch_pages(Machine& machine, std::int64_t slot, std::int64_t offset, std::int64_t bytes);

// Where one lane's access lies on the host, pages made; null and a fault if it is not allowed.
unsigned char* host_address(Machine& machine, const Warp& warp, const MemoryOperation& operation, Space space,
                            Region region, int lane, std::uint64_t address);

// Where a byte of a lane's local memory lies within its warp's, whose words are interleaved
// (CUDA C++ Programming Guide, "Local Memory").
constexpr std::uint64_t interleaved(std::uint64_t address, int lane) {
    const std::uint64_t offset = offset_bits(address);
    return ((offset & ~std::uint64_t{3}) << 5) + 4 * lane + (offset & 3);
}

}  // namespace warpwatt::emulate
