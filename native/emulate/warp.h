// The record of a resident warp. Generated code reads and writes it, by the offsets of layout.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/constant_cache.h"
#include "emulate/lanes.h"

namespace warpwatt::emulate {

struct Block;

// What a lane does next: the number of the basic block that it is to execute, or one of these. A waiting lane
// keeps a basic block's number in the low bits: the one whose CONVERGE it waits at, or the one behind the
// barrier or the AWAIT.
using NextBlock = std::int32_t;
inline constexpr NextBlock kConverging = 0x40000000;
inline constexpr NextBlock kAtBarrier = 0x50000000;
inline constexpr NextBlock kAwaiting = 0x60000000;
inline constexpr NextBlock kExited = 0x7FFFFFFF;
inline constexpr NextBlock kBlockBits = 0x0FFFFFFF;

constexpr bool converges(NextBlock next) { return kConverging <= next && next < kAtBarrier; }
constexpr bool at_barrier(NextBlock next) { return (kAtBarrier <= next) & (next < kAwaiting); }
constexpr bool awaits_phase(NextBlock next) { return (kAwaiting <= next) & (next < kExited); }

struct Index3 {
    std::int32_t x, y, z;
};

// PTX special registers that are the same for all threads of a warp (PTX ISA, "Special Registers").
struct SpecialRegisters {
    Index3 ntid, ctaid, nctaid;
    std::int32_t warpid, nwarpid, smid, nsmid, gridid;
    Index3 clusterid, nclusterid, cluster_ctaid, cluster_nctaid;
    std::int32_t cluster_ctarank, cluster_nctarank, dynamic_smem_size, total_smem_size;
};

struct alignas(64) Warp {
    Block* block;
    std::int64_t index_in_block;
    std::int64_t index_in_run;  // ordinal of its block × warps per block + index: its name in the trace
    std::int64_t index_in_grid;
    std::int64_t turn;     // instructions left until the next warp runs
    std::int64_t clock;    // instructions it has executed at the end of the current turn
    unsigned char* local;  // local memory of its lanes, one after the other
    LaneMask active;       // lanes that execute the current basic block
    LaneMask live;         // lanes that have not ended
    std::int32_t ready;    // whether a lane could run as the round began
    alignas(64) std::array<NextBlock, kLanes> next;
    // Lanes of a CONVERGE, a barrier's number, or the parity of the phase that an AWAIT waits for.
    alignas(64) std::array<std::uint32_t, kLanes> waits_for;
    alignas(64) std::array<std::uint64_t, kLanes> awaited;  // address of the barrier object of an AWAIT
    alignas(64) std::array<std::array<std::int32_t, kLanes>, 3> tid;
    alignas(64) SpecialRegisters special;
    IndexedConstantCache constants;
    // The routine's registers follow, as generated code lays them out.

    unsigned char* registers() { return reinterpret_cast<unsigned char*>(this + 1); }
};

}  // namespace warpwatt::emulate
