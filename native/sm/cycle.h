// Time in the simulator: whole cycles of the SM clock.
#pragma once

#include <cstdint>

namespace warpwatt::sm {

using Cycle = std::int64_t;

inline constexpr Cycle kNever = Cycle{1} << 60;

}  // namespace warpwatt::sm
