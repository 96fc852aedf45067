// The record of one run: what warpwatt.emulate.native.machine sets up, generated code and run time share.
#pragma once

#include <array>
#include <cstdint>

#include "emulate/block.h"
#include "emulate/constant_cache.h"
#include "emulate/lanes.h"
#include "emulate/memory_operation.h"
#include "emulate/request_counters.h"
#include "emulate/shared_check.h"
#include "emulate/texture.h"
#include "emulate/trace.h"
#include "emulate/warp.h"

namespace warpwatt::emulate {

struct Machine;
struct StepBlock;

enum class FaultReason : std::int32_t {
    kNone,
    kOutOfBounds,
    kMisaligned,
    kNoMemory,
    kNoInstruction,
    kTrap,
    kPythonError
};

// The first thing that went wrong, and where.
struct Fault {
    FaultReason reason;
    std::int32_t instruction;
    std::int64_t block;
    std::int64_t thread;
    std::uint64_t address;
    std::int64_t bytes;
};

struct Extent3 {
    std::int64_t x, y, z;
};

struct Launch {
    Extent3 block, grid, cluster;
    std::int64_t threads_per_block;
    std::int64_t warps_per_block;
    std::int64_t sms;
    std::int64_t resident_blocks;  // that begin together
    std::int64_t places;           // blocks that there is room for, if those that run seem to wait for others
    std::int64_t first_turn;     // instructions of a warp's first turn, twice as many of each after; 0: whole
    const std::int64_t* blocks;  // linear numbers in the grid of those to run
    std::int64_t block_count;
};

// Buffers by slot, see warpwatt.emulate.memory.
struct GlobalMemory {
    unsigned char* const* bases;
    const std::int64_t* sizes;
    unsigned char* const*
        page_flags;  // a byte per page (random_fill.h: kMade); null: all have their contents
    const std::int64_t* fill_kinds;
    const std::uint64_t* fill_keys;
    const double* fill_factors;
    std::int64_t (*make_pages)(std::int64_t address, std::int64_t bytes);  // in Python
    // What is allocated in the arena's slot, in order; where there is none, all of the slot.
    const std::uint64_t* allocation_starts;
    const std::uint64_t* allocation_ends;
    std::int64_t allocation_count;
};

struct ConstantBanks {
    unsigned char* const* bases;
    const std::int64_t* sizes;
};

// Where the records of resident blocks and warps lie, and their memory.
struct Residents {
    Block* blocks;
    unsigned char* warps;
    std::int64_t warp_bytes;  // of a Warp with its registers
    unsigned char* shared;
    std::int64_t shared_bytes, shared_stride;  // per block
    unsigned char* local;
    std::int64_t local_bytes, local_stride;  // per thread
    const SpecialRegisters* special;         // what is the same for all warps
};

// Instructions of the program, from `start` to before `stop`.
struct InstructionRange {
    std::int64_t start, stop;
};

// A piece of memory whose addresses need no look-up: host addresses are `distance` further.
struct Range {
    std::uint64_t start;
    std::int64_t bytes;
    std::uint64_t distance;
};

// The code and its tables, by basic block where not said otherwise.
struct Code {
    void (*dispatch)(Machine*, Warp*);
    // Of what is interpreted (steps.h): the blocks, room for values, steps left before it is compiled, and
    // what compiles it, in Python.
    const StepBlock* steps;
    unsigned char* frame;
    std::int64_t* patience;
    std::int64_t (*compile)(std::int64_t, std::int64_t);
    const NextBlock* converge_targets;
    const std::int32_t* converge_leavers;  // where the warp's register of lanes not waited for is; 0: none
    const std::int64_t* branch_targets;    // pairs of an indirect branch: address, basic block
    std::int64_t branch_target_count;
    std::int64_t (*call)(std::int64_t function, std::int64_t lanes);  // in Python
    const std::int64_t* zeros;  // of each such function: how many results are zeros in its place, 0: none
    const MemoryOperation* operations;
    std::int64_t operation_count;
    // Of the functional engine, else null: where each operation last was in global memory. Where it is there,
    // accesses are not counted but held to the bounds of allocations.
    Range* ranges;
    const InstructionRange* block_instructions;
    std::int64_t block_count;
    const std::int64_t* guarded_instructions;  // of each guard that is counted
    std::int64_t guard_count;
};

// What is counted: warps and lanes by basic block, lanes whose guard is off, requests by operation and space.
struct Totals {
    std::int64_t* executions;
    std::int64_t* lanes;
    std::int64_t* guarded;
    RequestCounters* requests;
};

inline constexpr int kMostValues = 272;  // of a lane, as arguments or results of one operation

struct alignas(64) Machine {
    Fault fault;
    std::int64_t budget;  // warp instructions left
    std::int64_t clock;   // instructions executed at the end of the current turn
    const Warp* caller;   // the warp that calls a function in Python
    Launch launch;
    GlobalMemory global;
    ConstantBanks constant;
    Textures textures;
    Residents residents;
    Code code;
    Totals totals;
    Trace trace;
    SharedCheck check;
    L15ConstantCache l15_constants;
    // Arguments and results of the operation that a warp executes.
    alignas(64) std::array<std::uint64_t, kLanes> addresses;
    alignas(64) std::array<std::array<std::uint64_t, kLanes>, kMostValues> values;
    alignas(64) std::array<std::uint64_t, kLanes> old_values;  // of an atomic

    void record_fault(const Warp& warp, int instruction, int lane, FaultReason reason,
                      std::uint64_t address = 0, std::int64_t bytes = 0);

    Warp& warp(std::int64_t resident) {
        return *reinterpret_cast<Warp*>(residents.warps + resident * residents.warp_bytes);
    }
    Warp& warp_of(const Block& block, std::int64_t index) {
        return *reinterpret_cast<Warp*>(block.warps + index * residents.warp_bytes);
    }
    unsigned char* value_bytes() { return reinterpret_cast<unsigned char*>(values.data()); }
};

}  // namespace warpwatt::emulate
