#include "emulate/start_block.h"

#include <cstring>

namespace warpwatt::emulate {

namespace {

Index3 index_in(const Extent3& extent, std::int64_t linear) {
    return {static_cast<std::int32_t>(linear % extent.x),
            static_cast<std::int32_t>(linear / extent.x % extent.y),
            static_cast<std::int32_t>(linear / (extent.x * extent.y))};
}

// Moves on to the next thread of a block, x fastest.
void advance(Index3& thread, const Extent3& block) {
    if (++thread.x < block.x) return;
    thread.x = 0;
    if (++thread.y < block.y) return;
    thread.y = 0;
    ++thread.z;
}

void start_lanes(const Launch& launch, Warp& warp) {
    const std::int64_t first = warp.index_in_block * kLanes;
    Index3 thread = index_in(launch.block, first);
    for (int lane = 0; lane < kLanes; ++lane, advance(thread, launch.block)) {
        const bool exists = first + lane < launch.threads_per_block;
        warp.next[lane] = exists ? 0 : kExited;
        warp.live |= LaneMask{exists} << lane;
        warp.tid[0][lane] = thread.x;
        warp.tid[1][lane] = thread.y;
        warp.tid[2][lane] = thread.z;
    }
}

void start_special_registers(const Launch& launch, Warp& warp) {
    SpecialRegisters& special = warp.special;
    const Extent3& cluster = launch.cluster;
    const Index3 ctaid = index_in(launch.grid, warp.block->index_in_grid);
    const auto x = static_cast<std::int32_t>(cluster.x), y = static_cast<std::int32_t>(cluster.y),
               z = static_cast<std::int32_t>(cluster.z);
    special.ctaid = ctaid;
    special.warpid = static_cast<std::int32_t>(warp.index_in_block);
    special.smid = static_cast<std::int32_t>(warp.block->index_in_grid % launch.sms);
    special.clusterid = {ctaid.x / x, ctaid.y / y, ctaid.z / z};
    special.cluster_ctaid = {ctaid.x % x, ctaid.y % y, ctaid.z % z};
    special.cluster_ctarank =
        special.cluster_ctaid.x + x * (special.cluster_ctaid.y + y * special.cluster_ctaid.z);
}

void start_warp(Machine& machine, Block& block, std::int64_t place, std::int64_t index) {
    const Residents& residents = machine.residents;
    const std::int64_t warps_per_block = machine.launch.warps_per_block;
    Warp& warp = machine.warp_of(block, index);
    std::memset(static_cast<void*>(&warp), 0, residents.warp_bytes);
    warp.block = &block;
    warp.index_in_block = index;
    warp.index_in_run = block.index_in_run * warps_per_block + index;
    warp.index_in_grid = block.index_in_grid * warps_per_block + index;
    const std::int64_t local_bytes = residents.local_stride * kLanes;
    warp.local = residents.local + (place * warps_per_block + index) * local_bytes;
    std::memset(warp.local, 0, local_bytes);
    warp.special = *residents.special;
    start_lanes(machine.launch, warp);
    start_special_registers(machine.launch, warp);
}

}  // namespace

void start_block(Machine& machine, std::int64_t place, std::int64_t index_in_run,
                 std::int64_t index_in_grid) {
    const Residents& residents = machine.residents;
    const std::int64_t warps = machine.launch.warps_per_block;
    Block& block = residents.blocks[place];
    block = {};
    block.index_in_grid = index_in_grid;
    block.index_in_run = index_in_run;
    block.live = machine.launch.threads_per_block;
    block.shared = residents.shared + place * residents.shared_stride;
    block.warps = residents.warps + place * warps * residents.warp_bytes;
    std::memset(block.shared, 0, residents.shared_bytes);
    start_check(machine, block);
    for (std::int64_t index = 0; index < warps; ++index) start_warp(machine, block, place, index);
}

}  // namespace warpwatt::emulate
