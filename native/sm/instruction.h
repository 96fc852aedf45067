// A static instruction, as the compiler scheduled it and as a machine runs it. Latencies count from issue.
#pragma once

#include <cstdint>

#include "sm/stall.h"

namespace warpwatt::sm {

enum class Operation : std::int8_t {
    arithmetic,      // and everything else whose result comes after a fixed latency
    memory,          // passes the MIO queue and the load-store unit
    mio_pipe,        // passes the MIO queue and then a pipe: special functions, FP64 of boards with few lanes
    barrier_sync,    // BAR.SYNC, BAR.RED
    barrier_arrive,  // BAR.ARV: counts, does not wait
    depbar,          // DEPBAR.LE: waits until few enough results of a scoreboard are missing
    copy_fence,      // LDGDEPBAR: its scoreboard falls when the asynchronous copies before it have come
    phase_wait,     // SYNCS...TRYWAIT: passes the load-store unit, then waits for a phase of a barrier object
    warpgroup_mma,  // HGMMA: queues at its sub-core's tensor pipe and runs on in the background
    warpgroup_wait,        // WARPGROUP.DEPBAR: waits for those
    tensor_memory_mma,     // UTCHMMA, UTCCP: queues at the SM's tensor cores and runs on in the background
    tensor_memory_commit,  // UTCBAR: tells a barrier object when what its warp started there is done
};

// What a memory instruction does with a barrier object (mbarrier) of its block.
enum class ObjectUse : std::int8_t {
    none,
    make,
    change,  // arrives, or expects bytes
    wait,
    tell,  // of bytes that have come
};

// What a memory instruction moves past the SM.
enum class Traffic : std::int8_t {
    none,  // shared memory, constants, shuffles
    read,
    write,
    atomic,
    async_copy,  // LDGSTS: a read in the background of a warp
    bulk_copy,   // UBLKCP, UTMALDG: a read in the background of a block
};

// Pipes of a sub-core.
enum class Pipe : std::int8_t {
    none,
    fma,       // FP32 and integer multiplication
    fma_lite,  // the second FP32 pipe of sub-cores with 32 FP32 lanes
    alu,
    fp16,
    xu,  // special functions and conversions
    fp64,
    tensor,
    uniform,
    branch,
};
inline constexpr int kPipes = 10;

// Pipes that the sub-cores of an SM share.
enum class SmPipe : std::int8_t { none, fp64, barrier, tensor };
inline constexpr int kSmPipes = 4;

inline constexpr int kScoreboards = 6;     // dependence counters SB0 to SB5 of a warp
inline constexpr int kWarpgroupBoard = 6;  // counts warp-group operations beside them
inline constexpr int kNoScoreboard = -1;

struct Instruction {
    // Control code (Huerta et al., MICRO 2025, "Control bits").
    std::int8_t stall_count;
    std::int8_t yields;
    std::int8_t wait_mask;      // a bit for each scoreboard that must be zero
    std::int8_t write_barrier;  // scoreboard that falls when the result is written
    std::int8_t read_barrier;   // scoreboard that falls when the operands are read

    Operation operation;
    Pipe pipe;
    Pipe alternative_pipe;  // taken when it is free
    SmPipe sm_pipe;
    std::int8_t even_bank_reads;  // register reads that the reuse cache does not save
    std::int8_t odd_bank_reads;
    Traffic traffic;
    std::int8_t shared_memory;  // 1: its load-store cycles are wavefronts of shared memory
    ObjectUse object_use;
    std::int8_t scoreboard;       // that DEPBAR or WARPGROUP.DEPBAR waits for
    std::int8_t barrier;          // number of the block's barrier
    std::int8_t reads_constants;  // 1: its warp waits behind it for the ConstantCache

    Stall result_stall;    // name of the wait for its result
    Stall throttle_stall;  // name of its own wait for its unit
    Stall issue_stall;     // name of the wait behind it for its stall count

    std::int32_t issue_cycles;  // in which its sub-core issues nothing else
    std::int32_t pipe_cycles;
    std::int32_t sm_pipe_cycles;
    std::int32_t tensor_cycles;  // of the tensor pipe, of an instruction that queues there
    std::int32_t outstanding;    // results that may still be missing behind DEPBAR
    std::int32_t barrier_warps;  // that take part; 0: all of the block
    std::int32_t cache_line;     // of the instruction cache

    double latency;  // to the result; of an L1 hit
    double operand_read_latency;
    double l2_latency;
    double dram_latency;
    double l1_miss_rate;           // share of its sectors
    double l2_miss_rate;           // share of the sectors that miss L1
    double lsu_cycles;             // of an access about which the trace says nothing more
    double l2_run_bytes;           // side by side that L2 has or has not together; 0: each line by itself
    double dram_slowdown;          // DRAM's time over what the bytes say
    double l2_merging;             // share of its sectors that L2 reads first, to merge with what is written
    double in_flight_rate;         // share of its L1 hits whose line is still on its way
    double sleep_cycles;           // behind it, in which its warp does nothing
    double constant_turns_cycles;  // in which the constant cache looks up its addresses but the first
    double constant_misses;        // of the constant cache
    double constant_miss_cycles;   // of each
};

}  // namespace warpwatt::sm
