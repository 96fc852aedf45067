#include "emulate/request_sums.h"

#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

// Operations of instructions 9, 4, 9: rows are in order of instruction, those of one are added up.
void operations_of_one_instruction_are_added_up() {
    TestMachine test;
    std::array<MemoryOperation, 3> operations{};
    std::array<RequestCounters, 3 * kSpaces> counters{};
    for (const int row : {0, 2}) operations[row].instruction = 9;
    operations[1].instruction = 4;
    for (int row = 0; row < 3; ++row) counters[row * kSpaces].requests = 10 + row;
    counters[kSpaces + static_cast<int>(Space::kLocal)].requests = 1;
    test.machine.code.operations = operations.data();
    test.machine.code.operation_count = operations.size();
    test.machine.totals.requests = counters.data();
    std::array<RequestSums, 3 * kSpaces> rows;
    CHECK(sum_requests(&test.machine, rows.data()) == 3);
    CHECK(rows[0].instruction == 4 && rows[0].space == 0 && rows[0].counters.requests == 11);
    CHECK(rows[1].instruction == 4 && rows[1].space == static_cast<int>(Space::kLocal));
    CHECK(rows[2].instruction == 9 && rows[2].counters.requests == 22);
}

}  // namespace

int main() {
    operations_of_one_instruction_are_added_up();
    return warpwatt::test::failures();
}
