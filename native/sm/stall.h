// Warp states, named as Nsight Compute names its stall reasons.
#pragma once

#include <cstdint>

namespace warpwatt::sm {

enum class Stall : std::int8_t {
    selected,
    not_selected,
    wait,
    long_scoreboard,
    short_scoreboard,
    math_pipe_throttle,
    mio_throttle,
    lg_throttle,
    tex_throttle,
    barrier,
    no_instruction,
    branch_resolving,
    dispatch,
    membar,
    imc_miss,
    sleeping,
};

inline constexpr int kStalls = 16;

}  // namespace warpwatt::sm
