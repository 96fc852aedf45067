// Barriers of a thread block (PTX ISA, "bar", "barrier").
#pragma once

#include "emulate/machine.h"

namespace warpwatt::emulate {

// Opens a barrier at which all expected threads have arrived.
void open_if_complete(Machine& machine, Block& block, int number);

// Does so with every barrier of a block: threads have ended.
void open_complete_barriers(Machine& machine, Block& block);

// What `bar.red` reduces to at the barrier last opened.
enum class BarrierReduction : std::int32_t { kCount, kAnd, kOr };
std::int64_t reduce(const Barrier& barrier, BarrierReduction how);

}  // namespace warpwatt::emulate
