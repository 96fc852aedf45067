#include "emulate/atomic.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "emulate/address_space.h"
#include "emulate/barrier_object.h"
#include "emulate/direct_access.h"
#include "emulate/element_size.h"
#include "emulate/half.h"
#include "emulate/request.h"
#include "emulate/resolved_lanes.h"
#include "emulate/run_time.h"

namespace warpwatt::emulate {

namespace {

// The sum, or the number if the other is NaN, or the lesser or greater one; -0 is below 0.
template <typename Float>
Float combine(AtomicOperation how, Float old, Float operand) {
    if (how == AtomicOperation::kAdd) return old + operand;
    if (std::isnan(old)) return operand;
    if (std::isnan(operand)) return old;
    const bool below = old == operand ? std::signbit(operand) : operand < old;
    return below == (how == AtomicOperation::kMin) ? operand : old;
}

std::uint64_t combine_integers(const MemoryOperation& operation, std::uint64_t old, std::uint64_t operand) {
    const int unused = 64 - 8 * operation.element_bytes;
    const bool below =
        static_cast<std::int64_t>(operand << unused) < static_cast<std::int64_t>(old << unused);
    switch (operation.atomic) {
        case AtomicOperation::kAdd:
            return old + operand;
        case AtomicOperation::kAnd:
            return old & operand;
        case AtomicOperation::kOr:
            return old | operand;
        case AtomicOperation::kXor:
            return old ^ operand;
        case AtomicOperation::kMin:
            return below ? operand : old;
        case AtomicOperation::kMax:
            return below ? old : operand;
        case AtomicOperation::kUnsignedMin:
            return operand < old ? operand : old;
        case AtomicOperation::kUnsignedMax:
            return operand < old ? old : operand;
        case AtomicOperation::kIncrement:
            return old < operand ? old + 1 : 0;
        default:
            return old == 0 || operand < old ? operand : old - 1;  // decrement
    }
}

// The count of blocks that have come to a grid's barrier has flipped its sign once all have: few of them run
// here, so it flips at once.
constexpr std::uint64_t kAllBlocksCame = 0x80000000;

// The machine is little-endian: an element's bytes are the lowest of 64 bits.
template <std::size_t kBytes>
void modify_lanes(const Request& request, const ResolvedLanes& resolved, LaneMask lanes) {
    Machine& machine = request.machine;
    for_each_lane(lanes, [&](int lane) {
        std::uint64_t old = 0;
        const bool waits = slot_bits(machine.addresses[lane]) == kGridWorkspaceSlot;
        if (!waits) std::memcpy(&old, resolved.hosts[lane], kBytes);
        const std::uint64_t made =
            waits ? kAllBlocksCame
                  : atomic_result(request.operation, old, machine.values[0][lane], machine.values[1][lane]);
        std::memcpy(resolved.hosts[lane], &made, kBytes);
        machine.old_values[lane] = old;
    });
}

}  // namespace

std::uint64_t atomic_result(const MemoryOperation& operation, std::uint64_t old, std::uint64_t operand,
                            std::uint64_t second_operand) {
    const AtomicOperation how = operation.atomic;
    if (how == AtomicOperation::kBarrierObject) return change_barrier_object(old, operand);
    if (how == AtomicOperation::kExchange || how == AtomicOperation::kNewBarrierObject) return operand;
    if (how == AtomicOperation::kCompareAndSwap) return old == operand ? second_operand : old;
    switch (operation.element) {
        case ElementKind::kSingle:
            return std::bit_cast<std::uint32_t>(
                combine(how, std::bit_cast<float>(static_cast<std::uint32_t>(old)),
                        std::bit_cast<float>(static_cast<std::uint32_t>(operand))));
        case ElementKind::kDouble:
            return std::bit_cast<std::uint64_t>(
                combine(how, std::bit_cast<double>(old), std::bit_cast<double>(operand)));
        case ElementKind::kHalf:
            return to_half(combine(how, from_half(static_cast<std::uint16_t>(old)),
                                   from_half(static_cast<std::uint16_t>(operand))));
        default:
            return combine_integers(operation, old, operand);
    }
}

}  // namespace warpwatt::emulate

using namespace warpwatt::emulate;

void atomic_lanes(Machine* machine, Warp* warp, std::int32_t row, LaneMask lanes) {
    if (machine->code.ranges != nullptr) return atomic_lanes_directly(machine, warp, row, lanes);
    machine->old_values = {};
    if (lanes == 0 || machine->fault.reason != FaultReason::kNone) return;
    const Request request(*machine, *warp, row);
    ResolvedLanes resolved;
    if (!resolve_lanes(request, lanes, Use::kChange, resolved)) return;
    check_shared(*machine, *warp, request.operation, lanes, Touch::kAtomic);
    if (!request.operation.probe)
        with_element_size(request.operation.element_bytes,
                          [&]<std::size_t kBytes>() { modify_lanes<kBytes>(request, resolved, lanes); });
    count_lanes(request, lanes, resolved.by_space);
}
