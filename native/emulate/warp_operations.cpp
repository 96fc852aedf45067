// What generated code leaves to the run time besides memory, barriers and convergence.

#include <cstring>

#include "emulate/address_pattern.h"
#include "emulate/machine.h"
#include "emulate/run_time.h"

namespace warpwatt::emulate {

namespace {

// The basic block that an indirect branch calls an address; -1 if there is none.
NextBlock branch_target(const Code& code, std::uint64_t address) {
    for (std::int64_t row = code.branch_target_count; row-- > 0;)
        if (static_cast<std::uint64_t>(code.branch_targets[2 * row]) == address)
            return static_cast<NextBlock>(code.branch_targets[2 * row + 1]);
    return -1;
}

}  // namespace

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void branch_indirect(Machine* machine, Warp* warp, LaneMask lanes, std::int32_t instruction) {
    for_each_lane(lanes, [&](int lane) {
        const std::uint64_t address = machine->addresses[lane];
        const NextBlock target = branch_target(machine->code, address);
        if (target >= 0)
            warp->next[lane] = target;
        else
            machine->record_fault(*warp, instruction, lane, FaultReason::kNoInstruction, address);
    });
}

void trap_lanes(Machine* machine, Warp* warp, LaneMask lanes, std::int32_t instruction) {
    if (lanes != 0) machine->record_fault(*warp, instruction, first_lane(lanes), FaultReason::kTrap);
}

void call_function(Machine* machine, std::int32_t function, LaneMask lanes) {
    if (machine->fault.reason != FaultReason::kNone) return;
    if (std::int64_t zeros = machine->code.zeros[function])
        std::memset(machine->value_bytes(), 0,
                    static_cast<std::size_t>(zeros) * kLanes * sizeof(std::int64_t));
    else
        machine->code.call(function, lanes);
}

void match_lanes(Machine* machine, LaneMask active) {
    std::array<LaneMask, kLanes> masks;
    for (int lane = 0; lane < kLanes; ++lane) masks[lane] = matching_lanes(machine->addresses, active, lane);
    std::memcpy(machine->value_bytes(), masks.data(), sizeof masks);
}
