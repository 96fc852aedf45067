#include "sm/load_store_unit.h"

#include <algorithm>

namespace warpwatt::sm {
namespace {

bool through_l1(const Instruction& instruction) { return instruction.traffic != Traffic::none; }

// Whether there is nothing to do for it when all its lanes are off.
bool touches_memory(const Instruction& instruction) {
    return through_l1(instruction) || instruction.shared_memory;
}

// Returns the cycle that begins at a time or after it.
Cycle next_cycle(double time) {
    const auto whole = static_cast<Cycle>(time);
    return whole + (static_cast<double>(whole) < time);
}

}  // namespace

AccessTimes LoadStoreUnit::access(const Instruction& instruction, std::int32_t pc, Cycle addressed,
                                  const MemoryAccess* access) {
    double cycles = touches_memory(instruction) ? 0.0 : instruction.lsu_cycles;
    if (access) cycles = access->lsu_cycles;
    const double accepted = accept(instruction, static_cast<double>(addressed), cycles, access != nullptr);
    const double conflicts = std::max(0.0, cycles - instruction.lsu_cycles);
    return {next_cycle(accepted), next_cycle(accepted + conflicts + instruction.operand_read_latency),
            next_cycle(completion(instruction, pc, accepted, conflicts, access))};
}

// Returns when the unit takes an access, and keeps it busy. Constants come from caches of their own (see
// ConstantCache): they take no cycles here and do not wait.
double LoadStoreUnit::accept(const Instruction& instruction, double addressed, double cycles, bool active) {
    double accepted = addressed;
    if (cycles > 0.0 || !active) {
        accepted = std::max(accepted, free_);
        if (through_l1(instruction) && active) accepted = std::max(accepted, l1_.queues_shrink_to(backlog_));
        free_ = accepted + cycles;
    }
    busy_ += cycles;
    if (through_l1(instruction)) {
        l1_busy_ += cycles;
    } else if (instruction.shared_memory) {
        shared_memory_busy_ += cycles;
    }
    return accepted;
}

// Returns when the result is there: after the latency of a hit and its conflicts, or when a miss arrives.
double LoadStoreUnit::completion(const Instruction& instruction, std::int32_t pc, double accepted,
                                 double conflicts, const MemoryAccess* access) {
    if (!access && touches_memory(instruction)) return accepted + off_cycles_;
    const double hit = accepted + instruction.latency + conflicts;
    if (!through_l1(instruction)) return hit;
    return std::max(hit, l1_.arrival(instruction, pc, accepted + conflicts, *access));
}

}  // namespace warpwatt::sm
