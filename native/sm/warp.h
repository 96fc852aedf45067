// A resident warp.
#pragma once

#include <array>
#include <cstdint>

#include "sm/barrier.h"
#include "sm/barrier_object.h"
#include "sm/cycle.h"
#include "sm/scoreboard.h"
#include "sm/stall_accounting.h"
#include "sm/trace.h"

namespace warpwatt::sm {

// Asynchronous operations that are on their way.
struct PendingCopies {
    Cycle done = 0;              // when the last of them has come
    std::int32_t producer = -1;  // the instruction that made it

    void add(Cycle time, std::int32_t pc) {
        if (time > done) *this = {time, pc};
    }
};

struct Warp {
    static constexpr int kObjects = 64;  // barrier objects that are told apart

    enum class State : std::int8_t { exited, active, at_barrier, at_object };

    State state = State::exited;
    std::int32_t sub_core = 0;
    std::int32_t block_slot = 0;
    std::int32_t barrier_pc = -1;  // the barrier at which it waits
    std::int32_t object = -1;      // or the barrier object, and its phase
    std::int32_t phase = -1;
    Cycle ready = 0;          // when its next instruction waits for its units only
    Cycle waiting_since = 0;  // behind its last issue, its start or its barrier
    TraceCursor trace;
    Scoreboards scoreboards;
    PendingCopies copies;    // LDGSTS
    PendingCopies products;  // in tensor memory, that it started
    Wait behind_barrier;     // what it waits for then
    std::array<PhaseCursor, kObjects> phases;
};

// Room for a block on the SM, and the block in it.
struct BlockSlot {
    std::int64_t block = -1;  // place in the dispatcher's line
    std::int32_t live_warps = 0;
    BlockBarriers barriers;
    std::array<BarrierObject, Warp::kObjects> objects;
};

}  // namespace warpwatt::sm
