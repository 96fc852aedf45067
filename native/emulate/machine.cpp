#include "emulate/machine.h"

namespace warpwatt::emulate {

void Machine::record_fault(const Warp& warp, int instruction, int lane, FaultReason reason,
                           std::uint64_t address, std::int64_t bytes) {
    if (fault.reason != FaultReason::kNone) return;
    const std::int64_t thread = warp.index_in_block * kLanes + lane;
    fault = {reason, instruction, warp.block->index_in_grid, thread, address, bytes};
}

}  // namespace warpwatt::emulate
