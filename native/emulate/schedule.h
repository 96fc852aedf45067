// Which warp runs when: blocks one after the other, those that are resident together in rounds; in each, every
// warp that could run as the round began has one turn.
#pragma once

#include <cstdint>

namespace warpwatt::emulate {

// Why a run ends; warpwatt.emulate.run.Stop.
enum class Stop : std::int64_t { kDone, kInstructions, kDeadlock, kFault };

}  // namespace warpwatt::emulate
