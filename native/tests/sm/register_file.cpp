#include "sm/register_file.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

Instruction reads(int even, int odd) {
    Instruction instruction = test::plain();
    instruction.even_bank_reads = static_cast<std::int8_t>(even);
    instruction.odd_bank_reads = static_cast<std::int8_t>(odd);
    return instruction;
}

Cycle ready(const RegisterFile& file, const Instruction& instruction) {
    return file.ready(IssueNeeds::of(instruction, test::settings()));
}

void three_reads_fit_into_the_window_of_an_idle_bank() {
    RegisterFile file;
    CHECK(ready(file, reads(3, 3)) <= 0);
    CHECK(ready(file, reads(4, 0)) == 1);
}

void a_bank_that_is_read_holds_back_the_next_reads_of_it_alone() {
    RegisterFile file;
    file.read(reads(3, 0), 10);             // until 13
    CHECK(ready(file, reads(3, 0)) == 13);  // 13 + 3 - 3
    CHECK(ready(file, reads(1, 0)) == 11);
    CHECK(ready(file, reads(0, 3)) <= 0);
    CHECK(ready(file, reads(0, 0)) <= 0);
    file.read(reads(0, 2), 20);             // until 22
    CHECK(ready(file, reads(1, 3)) == 22);  // the later bank
}

void reads_queue_behind_each_other() {
    RegisterFile file;
    file.read(reads(3, 0), 10);
    file.read(reads(2, 0), 11);  // from 13 until 15
    CHECK(ready(file, reads(3, 0)) == 15);
}

}  // namespace

int main() {
    three_reads_fit_into_the_window_of_an_idle_bank();
    a_bank_that_is_read_holds_back_the_next_reads_of_it_alone();
    reads_queue_behind_each_other();
    return warpwatt::test::failures();
}
