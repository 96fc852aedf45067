// Accesses to shared memory that no barrier orders, and reads of what nobody has written: looked for in the
// one block of a run, as far as a budget reaches. Warps are what is told apart: lanes of a warp are in
// step.
#pragma once

#include <cstdint>

#include "emulate/lanes.h"
#include "emulate/memory_operation.h"

namespace warpwatt::emulate {

struct Block;
struct Machine;
struct Warp;

enum class HazardKind : std::int32_t {
    kReadAfterWrite,
    kWriteAfterRead,
    kWriteAfterWrite,
    kUninitialised,
    kDivergentBarrier
};

// What was found: two instructions that meet, or one.
struct Hazard {
    HazardKind kind;
    std::int32_t first, second;  // instructions; of barriers the basic blocks behind them
    std::int32_t thread;         // of the second
    std::int64_t block;
    std::int64_t offset;  // in shared memory
};

inline constexpr std::int64_t kMostHazards = 16;

// Who touched four bytes of shared memory last. Epochs begin when barriers open.
struct SharedWord {
    std::uint32_t write_epoch, read_epoch;
    std::int32_t writer, reader;  // instructions
    std::int16_t write_warp, read_warp;
    std::uint8_t written, read, initialised;  // bytes, bit by bit
};

inline constexpr std::int16_t kSeveralWarps = -1;

struct SharedCheck {
    SharedWord* words;  // null: nothing is looked for
    std::int64_t word_count;
    Hazard* hazards;
    std::int64_t hazard_count;
    std::int64_t requests_left;
    std::int64_t block;  // index in the run of the one that is looked at
    std::int64_t epoch;
    std::int64_t
        barrier_target;  // where the first warp goes from the barrier of all threads; -1: nobody came
};

enum class Touch { kRead, kWrite, kAtomic };

// A block begins.
void start_check(Machine& machine, const Block& block);

// Lanes touch shared memory at the machine's addresses, or are about to store its values.
void check_shared(Machine& machine, const Warp& warp, const MemoryOperation& operation, LaneMask lanes,
                  Touch touch);

// A warp comes to a barrier; it opens.
void check_arrival(Machine& machine, const Warp& warp, std::int64_t number, std::int64_t expected,
                   std::int32_t target);
void check_opening(Machine& machine, const Block& block, std::int64_t number);

}  // namespace warpwatt::emulate
