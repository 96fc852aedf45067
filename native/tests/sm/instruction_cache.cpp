#include "sm/instruction_cache.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

// L0 keeps two lines, 39 cycles behind the SM's cache of four, which L2 fills in 200 cycles with one line
// ahead.
Settings small_caches() {
    Settings s = test::settings();
    s.l0_lines = 3;
    s.l0_miss_cycles = 39;
    s.l1i_lines = 5;
    s.l1i_miss_cycles = 200;
    s.l1i_ahead = 1;
    return s;
}

void a_line_in_l0_is_at_hand() {
    L1InstructionCache l1(8, small_caches());
    L0InstructionCache l0(8, small_caches());
    CHECK(l0.fetch(0, true, 10, l1) == 210);
    CHECK(l0.fetch(0, true, 20, l1) == 0);
}

void a_miss_brings_the_next_line_too() {
    L1InstructionCache l1(8, small_caches());
    CHECK(l1.fetch(0, 10) == 210);
    CHECK(l1.fetch(1, 100) == 210);  // asked for together with line 0
    CHECK(l1.fetch(2, 150) == 300);  // asked for by line 1
    CHECK(l1.fetch(4, 400) == 600);
    CHECK(l1.fetch(7, 700) == 900);  // nothing behind it
}

void jumps_pay_for_the_way_between_the_caches_and_straight_code_does_not() {
    L1InstructionCache l1(8, small_caches());
    L0InstructionCache l0(8, small_caches());
    l1.fetch(0, 0);
    CHECK(l0.fetch(0, true, 500, l1) == 200);
    CHECK(l0.fetch(1, false, 500, l1) == 539);
}

void lines_leave_in_the_order_in_which_they_came() {
    L1InstructionCache l1(8, small_caches());
    L0InstructionCache l0(8, small_caches());
    for (int line = 0; line < 3; ++line) l0.fetch(line, true, 0, l1);
    CHECK(l0.fetch(2, false, 1000, l1) == 0);
    CHECK(l0.fetch(1, false, 1000, l1) == 0);
    CHECK(l0.fetch(0, false, 1000, l1) == 1039);
    l1.fetch(6, 1000);  // lines 6 and 7 take the places of 0 and 1
    CHECK(l1.fetch(3, 2000) == 200);
    CHECK(l1.fetch(0, 2000) == 2200);
}

}  // namespace

int main() {
    a_line_in_l0_is_at_hand();
    a_miss_brings_the_next_line_too();
    jumps_pay_for_the_way_between_the_caches_and_straight_code_does_not();
    lines_leave_in_the_order_in_which_they_came();
    return warpwatt::test::failures();
}
