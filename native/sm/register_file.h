// The register file of a sub-core: two banks (even and odd registers) with one read port each. An instruction
// has a window of three cycles for its reads and issues when they fit (Huerta et al., MICRO 2025, "Register
// file").
#pragma once

#include <algorithm>
#include <cstdint>

#include "sm/cycle.h"
#include "sm/instruction.h"
#include "sm/issue_needs.h"

namespace warpwatt::sm {

class RegisterFile {
public:
    // Returns the first cycle in which the instruction finds its window: free + reads - window, of the later
    // bank.
    Cycle ready(const IssueNeeds& needs) const {
        return std::max(even_ + needs.even_bank, odd_ + needs.odd_bank);
    }

    void read(const Instruction& instruction, Cycle time) {
        even_ = after(even_, instruction.even_bank_reads, time);
        odd_ = after(odd_, instruction.odd_bank_reads, time);
    }

private:
    static Cycle after(Cycle free, std::int8_t reads, Cycle time) {
        return std::max(free, reads > 0 ? time : 0) + reads;
    }

    Cycle even_ = 0, odd_ = 0;  // when the port of each bank is free
};

}  // namespace warpwatt::sm
