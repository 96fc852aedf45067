#include "emulate/instruction_counts.h"

#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

// Blocks of instructions 0-1, none, 1-2: instruction 1 belongs to two; a guard was off for 5 lanes of it.
void blocks_are_added_to_their_instructions() {
    TestMachine test;
    std::array<std::int64_t, 3> executions{10, 99, 1}, lanes{320, 99, 32};
    std::array<std::int64_t, 1> guarded{5};
    test.machine.totals = {executions.data(), lanes.data(), guarded.data(), nullptr};
    const std::array<InstructionRange, 3> ranges{{{0, 2}, {1, 1}, {1, 3}}};
    const std::array<std::int64_t, 1> guarded_instructions{1};
    std::array<std::int64_t, 3> executed{}, active{};
    test.machine.code.block_instructions = ranges.data();
    test.machine.code.block_count = ranges.size();
    test.machine.code.guarded_instructions = guarded_instructions.data();
    test.machine.code.guard_count = guarded_instructions.size();
    count_instructions(&test.machine, executed.data(), active.data());
    CHECK((executed == std::array<std::int64_t, 3>{10, 11, 1}));
    CHECK((active == std::array<std::int64_t, 3>{320, 347, 32}));
}

}  // namespace

int main() {
    blocks_are_added_to_their_instructions();
    return warpwatt::test::failures();
}
