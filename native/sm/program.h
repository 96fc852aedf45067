// The program that the SM runs: its instructions, and what each needs to issue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sm/instruction.h"
#include "sm/issue_needs.h"
#include "sm/settings.h"

namespace warpwatt::sm {

// An instruction and the number of its needs. What is read whenever it issues lies in one cache line.
struct alignas(64) ProgramInstruction : Instruction {
    std::int32_t needs;
};

class Program {
public:
    Program(const Instruction* instructions, std::int64_t count, const Settings& settings) {
        instructions_.reserve(count);
        for (const Instruction* i = instructions; i != instructions + count; ++i)
            instructions_.push_back({*i, number_of(IssueNeeds::of(*i, settings))});
    }

    const ProgramInstruction& operator[](std::int32_t pc) const { return instructions_[pc]; }
    const IssueNeeds& needs(std::int32_t number) const { return needs_[number]; }

    std::int32_t cache_lines() const {
        std::int32_t last = 0;
        for (const Instruction& i : instructions_) last = std::max(last, i.cache_line);
        return last + 1;
    }

    // Whether an instruction waits for what others before the last one have set.
    bool looks_back() const {
        return std::any_of(instructions_.begin(), instructions_.end(), [](const Instruction& i) {
            return i.operation == Operation::depbar || i.operation == Operation::warpgroup_wait;
        });
    }

private:
    std::int32_t number_of(const IssueNeeds& wanted) {
        const auto found = std::find(needs_.begin(), needs_.end(), wanted);
        const auto number = static_cast<std::int32_t>(found - needs_.begin());
        if (found == needs_.end()) needs_.push_back(wanted);
        return number;
    }

    std::vector<ProgramInstruction> instructions_;
    std::vector<IssueNeeds> needs_;  // the different ones, which are few
};

}  // namespace warpwatt::sm
