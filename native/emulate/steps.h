// A routine as steps: each a function of this library, on values of 32 lanes that lie in a frame. Nothing has
// to be compiled before it runs; warpwatt.emulate.native.steps writes them.
#pragma once

#include <array>
#include <cstdint>

#include "c_api.h"
#include "emulate/machine.h"

namespace warpwatt::emulate {

// What a step sees. Values lie 256 bytes apart: numbers as 32 in a row, truth values as a mask of lanes.
struct Frame {
    Machine& machine;
    Warp& warp;
    LaneMask active;
    unsigned char* values;
};

struct Step {
    void (*execute)(const Frame&, const Step&);
    std::int32_t result, a, b, c;  // where values lie in the frame; `c` is a mask's too, -1: all lanes
    std::int64_t number;           // what else is fixed: a row, an offset, a rounding mode
};

// How a basic block ends: warpwatt.emulate.ir.End.
enum class StepEnd : std::int32_t { kJump, kBranch, kIndirect, kExit, kBarrier, kConverge, kAwait, kTrap };

struct StepBlock {
    const Step* steps;
    std::int64_t count;
    std::int64_t length;  // what it takes off the turn
    StepEnd end;
    std::array<NextBlock, 2> targets;
    std::int32_t condition, value;  // where they lie in the frame; -1: none
    std::int32_t instruction;
    std::int32_t arrive;    // a barrier that is not waited at
    std::int32_t expected;  // whether the second values say how many threads a barrier waits for
    std::int32_t may_fail;  // whether a step may meet a fault
    std::int32_t leaves;    // whether a step sets a register of lanes that are not waited for
};

}  // namespace warpwatt::emulate

// The functions of steps by name, as many as `count` then says.
WARPWATT_API const void* emulator_steps(std::int64_t* count);

// Runs a warp until its turn ends or all its lanes wait or have ended.
WARPWATT_API void interpret(warpwatt::emulate::Machine* machine, warpwatt::emulate::Warp* warp);
