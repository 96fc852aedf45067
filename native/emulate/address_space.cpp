#include "emulate/address_space.h"

#include "emulate/random_fill.h"

namespace warpwatt::emulate {

Space actual_space(Space space, std::uint64_t address) {
    if (space != Space::kGeneric && space != Space::kGlobal) return space;
    switch (slot_bits(address)) {
        case kSharedSlot:
            return Space::kShared;
        case kLocalSlot:
            return Space::kLocal;
        case kParameterSlot:
        case kConstantSlot:
            return Space::kConstant;
        default:
            return Space::kGlobal;
    }
}

int bank_of(const MemoryOperation& operation, std::uint64_t address) {
    if (operation.space == Space::kConstant) return operation.bank;
    return slot_bits(address) == kParameterSlot ? kParameterBank : kConstantBank;
}

std::int64_t slot_of(const MemoryOperation& operation, Space space, std::uint64_t address) {
    switch (space) {
        case Space::kGlobal:
            return slot_bits(address);
        case Space::kConstant:
            return bank_of(operation, address) == kParameterBank ? kParameterSlot : kConstantSlot;
        case Space::kShared:
            return kSharedSlot;
        default:
            return kLocalSlot;
    }
}

Block* shared_block(const Machine& machine, const Warp& warp, std::uint64_t address) {
    const Extent3& cluster = machine.launch.cluster;
    if (cluster.x * cluster.y * cluster.z == 1) return warp.block;
    const auto rank = static_cast<std::int64_t>(offset_bits(address) >> kClusterRankShift);
    Block* const first = warp.block - warp.special.cluster_ctarank;
    const bool there = rank < cluster.x * cluster.y * cluster.z && first >= machine.residents.blocks;
    return there ? first + rank : nullptr;
}

namespace {

Region shared_region(const Machine& machine, const Warp& warp, std::uint64_t address) {
    const Block* block = shared_block(machine, warp, address);
    if (block == nullptr) return {nullptr, 0};
    const std::int64_t begin =
        block == warp.block &&
                machine.launch.cluster.x * machine.launch.cluster.y * machine.launch.cluster.z == 1
            ? 0
            : static_cast<std::int64_t>(offset_bits(address) >> kClusterRankShift) << kClusterRankShift;
    return {block->shared - begin, begin + machine.residents.shared_bytes, begin};
}

}  // namespace

Region region_of(const Machine& machine, const Warp& warp, const MemoryOperation& operation, Space space,
                 std::uint64_t address) {
    switch (space) {
        case Space::kGlobal: {
            const std::int64_t slot = slot_bits(address);
            if (slot >= kSlots) return {nullptr, 0};
            return {machine.global.bases[slot], machine.global.sizes[slot]};
        }
        case Space::kShared:
            return shared_region(machine, warp, address);
        case Space::kLocal:
            return {warp.local, machine.residents.local_bytes};
        default: {
            const int bank = bank_of(operation, address);
            return {machine.constant.bases[bank], machine.constant.sizes[bank]};
        }
    }
}

void touch_pages(Machine& machine, std::int64_t slot, std::int64_t offset, std::int64_t bytes) {
    const unsigned char* made = machine.global.page_flags[slot];
    if (made == nullptr) return;
    const std::int64_t last = (offset + bytes - 1) >> kPageShift;
    for (std::int64_t page = offset >> kPageShift; page <= last; ++page)
        if (made[page] != kMade && !fill_page(machine.global, slot, page))
            machine.global.make_pages(slot << kSlotShift | (page << kPageShift & -kMadeInPython),
                                      kMadeInPython);
}

unsigned char* host_address(Machine& machine, const Warp& warp, const MemoryOperation& operation, Space space,
                            Region region, int lane, std::uint64_t address) {
    const auto offset = static_cast<std::int64_t>(offset_bits(address));
    const std::int64_t bytes = operation.bytes;
    const bool power_of_two = (bytes & (bytes - 1)) == 0;
    const bool misaligned = power_of_two ? offset & (bytes - 1) : offset % bytes;
    if (misaligned || offset < region.begin || offset + bytes > region.size) [[unlikely]] {
        if (space != Space::kGlobal) address = offset | slot_of(operation, space, address) << kSlotShift;
        const FaultReason reason = misaligned         ? FaultReason::kMisaligned
                                   : region.size != 0 ? FaultReason::kOutOfBounds
                                                      : FaultReason::kNoMemory;
        machine.record_fault(warp, operation.instruction, lane, reason, address, bytes);
        return nullptr;
    }
    if (space == Space::kLocal) return region.base + offset + lane * machine.residents.local_stride;
    if (space == Space::kGlobal && !operation.probe) touch_pages(machine, slot_bits(address), offset, bytes);
    return region.base + offset;
}

}  // namespace warpwatt::emulate
