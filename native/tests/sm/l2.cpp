#include "sm/l2.h"

#include <cmath>

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

void a_hit_takes_the_latency_and_the_transfer_behind_l2() {
    const Settings s = test::settings();
    L2 l2(1, s);
    CHECK_NEAR(l2.access(test::global_load(), 0, 10.0, 4.0, 1.0, 2.0), 212.0, 0.0);
    CHECK_NEAR(l2.bandwidth().bytes(), 128.0, 0.0);
    CHECK_NEAR(l2.dram().bytes(), 0.0, 0.0);
}

void it_gives_no_more_than_its_rate() {
    const Settings s = test::settings();
    L2 l2(1, s);
    l2.access(test::global_load(), 0, 0.0, 4.0, 1.0, 2.0);  // 128 bytes at 32 per cycle
    CHECK_NEAR(l2.access(test::global_load(), 0, 1.0, 4.0, 1.0, 2.0), 206.0, 0.0);
}

void part_of_a_line_takes_a_slot_and_merging_reads_it_again() {
    Settings s = test::settings();
    s.l2_slot_bytes = 64.0;
    L2 l2(1, s);
    Instruction store = test::global_load();
    l2.access(store, 0, 0.0, 4.0, 1.0, 2.0);
    CHECK_NEAR(l2.bandwidth().bytes(), 128.0, 0.0);  // a whole line is two slots
    l2.access(store, 0, 0.0, 32.0, 32.0, 2.0);
    CHECK_NEAR(l2.bandwidth().bytes(), 128.0 + 32 * 64.0, 0.0);
    store.l2_merging = 1.0;
    l2.access(store, 0, 0.0, 32.0, 32.0, 2.0);
    CHECK_NEAR(l2.bandwidth().bytes(), 128.0 + 32 * (64.0 + 64.0 + 32.0), 0.0);
}

void a_miss_waits_for_dram_from_when_l2_takes_it() {
    const Settings s = test::settings();
    L2 l2(1, s);
    Instruction load = test::global_load();
    load.l2_miss_rate = 1.0;
    CHECK_NEAR(l2.access(load, 0, 10.0, 4.0, 1.0, 2.0), 510.0, 0.0);
    CHECK_NEAR(l2.dram().bytes(), 128.0, 0.0);
    load.dram_slowdown = 3.0;  // bytes' worth of DRAM time where each opens a page for few of them
    l2.access(load, 0, 10.0, 4.0, 1.0, 2.0);
    CHECK_NEAR(l2.dram().bytes(), 512.0, 0.0);
}

void what_comes_back_late_through_the_port_is_later_than_dram() {
    const Settings s = test::settings();
    L2 l2(1, s);
    Instruction load = test::global_load();
    load.l2_miss_rate = 1.0;
    CHECK_NEAR(l2.access(load, 0, 0.0, 4.0, 1.0, 400.0), 600.0, 0.0);
}

void misses_come_in_groups_as_lines_do() {
    const Settings s = test::settings();
    L2 one(1, s), many(1, s);
    Instruction load = test::global_load();
    load.l2_miss_rate = 0.5;
    one.access(load, 0, 0.0, 16.0, 1.0, 0.0);
    CHECK_NEAR(one.dram().bytes(), 512.0, 0.0);  // of one line, all or nothing
    many.access(load, 0, 0.0, 16.0, 4.0, 0.0);   // 15 of 16 accesses miss, 8/15 of each
    CHECK_NEAR(many.dram().bytes(), 512.0 * 8 / 15, 1e-9);
}

void lines_side_by_side_miss_together() {
    const Settings s = test::settings();
    Instruction load = test::global_load();
    load.l2_miss_rate = 0.5;
    const auto missed = [&](double run, double sectors, double lines) {
        L2 l2(1, s);
        load.l2_run_bytes = run;
        l2.access(load, 0, 0.0, sectors, lines, 0.0);
        return l2.dram().bytes() / kSectorBytes;
    };
    CHECK_NEAR(missed(512.0, 16.0, 4.0), 16.0, 0.0);            // four lines in a row
    CHECK_NEAR(missed(HUGE_VAL, 32.0, 32.0), 32.0, 0.0);        // neighbours of other warps' without end
    CHECK_NEAR(missed(256.0, 16.0, 4.0), 16.0 * 2 / 3, 1e-12);  // two and two: 3 of 4 accesses, 2/3 of each
    CHECK_NEAR(missed(32.0, 16.0, 4.0), 16.0 * 8 / 15, 1e-12);  // no more parts than lines
    CHECK_NEAR(missed(0.0, 16.0, 4.0), 16.0 * 8 / 15, 1e-12);   // not known
}

}  // namespace

int main() {
    a_hit_takes_the_latency_and_the_transfer_behind_l2();
    it_gives_no_more_than_its_rate();
    part_of_a_line_takes_a_slot_and_merging_reads_it_again();
    a_miss_waits_for_dram_from_when_l2_takes_it();
    what_comes_back_late_through_the_port_is_later_than_dram();
    misses_come_in_groups_as_lines_do();
    lines_side_by_side_miss_together();
    return warpwatt::test::failures();
}
