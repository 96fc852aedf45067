// The load-store unit of the SM, which all sub-cores share: an access takes it for its wavefronts in shared
// memory, or for its lines in L1 (Huerta et al., MICRO 2025, "Memory pipeline").
#pragma once

#include <cstdint>

#include "sm/cycle.h"
#include "sm/instruction.h"
#include "sm/l1.h"
#include "sm/settings.h"
#include "sm/trace.h"

namespace warpwatt::sm {

// When the load-store unit takes a memory instruction, has read its operands, and has its result.
struct AccessTimes {
    Cycle accepted;
    Cycle operands_read;
    Cycle done;
};

class LoadStoreUnit {
public:
    LoadStoreUnit(std::int64_t instructions, const Settings& settings)
        : backlog_(settings.backlog_cycles), off_cycles_(settings.off_cycles), l1_(instructions, settings) {}

    // Sends a memory instruction down the pipe that left the address unit at `addressed`. `access`: none
    // where all lanes are off.
    AccessTimes access(const Instruction& instruction, std::int32_t pc, Cycle addressed,
                       const MemoryAccess* access);

    const L1& l1() const { return l1_; }
    double busy_cycles() const { return busy_; }
    double l1_busy_cycles() const { return l1_busy_; }
    double shared_memory_busy_cycles() const { return shared_memory_busy_; }

private:
    double accept(const Instruction& instruction, double addressed, double cycles, bool active);
    double completion(const Instruction& instruction, std::int32_t pc, double accepted, double conflicts,
                      const MemoryAccess* access);

    double backlog_;
    double off_cycles_;
    L1 l1_;
    double free_ = 0.0;
    double busy_ = 0.0, l1_busy_ = 0.0, shared_memory_busy_ = 0.0;  // cycles taken; by either memory
};

}  // namespace warpwatt::sm
