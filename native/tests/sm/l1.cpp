#include "sm/l1.h"

#include <cmath>

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

constexpr MemoryAccess kLine = {2.0, 4.0, 1.0};

Instruction load(double miss_rate, double in_flight = 0.0) {
    Instruction instruction = test::global_load();
    instruction.l1_miss_rate = miss_rate;
    instruction.in_flight_rate = in_flight;
    return instruction;
}

void a_hit_is_there_and_a_miss_comes_from_l2() {
    const Settings s = test::settings();
    L1 l1(1, s);
    CHECK_NEAR(l1.arrival(load(0.0), 0, 10.0, kLine), 0.0, 0.0);
    CHECK_NEAR(l1.arrival(load(1.0), 0, 10.0, kLine), 212.0, 0.0);  // 200 and 128 bytes at 64 per cycle
    CHECK_NEAR(l1.l2().bandwidth().bytes(), 128.0, 0.0);
}

void misses_wait_for_their_port_and_stores_have_one_of_their_own() {
    Settings s = test::settings();
    s.port_bytes = 8.0;
    s.write_port_bytes = 16.0;
    L1 l1(2, s);
    Instruction store = load(1.0);
    store.traffic = Traffic::write;
    CHECK_NEAR(l1.arrival(load(1.0), 0, 0.0, kLine), 216.0, 0.0);  // 16 cycles through the port
    CHECK_NEAR(l1.arrival(load(1.0), 0, 0.0, kLine), 232.0, 0.0);  // and behind it
    CHECK_NEAR(l1.arrival(store, 1, 100.0, kLine), 316.0, 0.0);
    CHECK_NEAR(l1.arrival(store, 1, 100.0, kLine), 320.0, 0.0);  // at L2 behind the one before
    CHECK_NEAR(l1.arrival(store, 1, 100.0, kLine), 324.0, 0.0);  // two of 12 cycles at their port before it
}

void what_is_written_leaves_in_packets_behind_an_address_for_each_line() {
    Settings s = test::settings();
    s.write_port_bytes = 32.0;
    L1 l1(2, s);
    Instruction store = load(1.0);
    store.traffic = Traffic::write;
    const MemoryAccess scattered{2.0, 32.0, 32.0}, whole{2.0, 32.0, 8.0};
    CHECK_NEAR(l1.arrival(store, 0, 0.0, scattered), 216.0, 0.0);
    CHECK_NEAR(l1.queues_shrink_to(100.0), 28.0, 0.0);  // 64 packets
    CHECK_NEAR(l1.arrival(store, 0, 100.0, whole), 328.0, 0.0);
    CHECK_NEAR(l1.queues_shrink_to(100.0), 76.0, 0.0);                // 24 packets
    CHECK_NEAR(l1.arrival(load(1.0), 1, 200.0, kLine), 402.0, 0.0);   // reads do not wait for that
    CHECK_NEAR(l1.l2().bandwidth().bytes(), 64 * 32.0 + 128.0, 0.0);  // L2 takes no time for addresses
}

void part_of_an_access_touches_part_of_its_lines() {
    Settings s = test::settings();
    L1 l1(1, s);
    Instruction scattered = load(0.5);
    scattered.l2_miss_rate = 0.5;
    // Of four lines 15 of 16 accesses miss, 8/15 of 16 sectors each: those are 2.13 lines, of which some miss
    // L2.
    l1.arrival(scattered, 0, 0.0, {2.0, 16.0, 4.0});
    const double sectors = 16.0 * 8 / 15, lines = 4.0 * 8 / 15;
    const double share = 1.0 - std::pow(0.5, lines);
    CHECK_NEAR(l1.l2().dram().bytes(), 32.0 * sectors * 0.5 / share, 1e-9);
}

void a_hit_on_a_line_in_flight_waits_for_it() {
    const Settings s = test::settings();
    L1 l1(1, s);
    const Instruction half = load(0.5, 1.0);
    CHECK_NEAR(l1.arrival(half, 0, 0.0, kLine), 202.0, 0.0);  // misses
    CHECK_NEAR(l1.arrival(half, 0, 5.0, kLine), 202.0, 0.0);  // hits what is on its way
    CHECK_NEAR(l1.l2().bandwidth().bytes(), 128.0, 0.0);
}

void the_first_of_a_turn_misses_and_a_later_one_hits_in_its_place() {
    const Settings s = test::settings();
    L1 l1(1, s);
    const Instruction quarter = load(0.25, 1.0);
    CHECK_NEAR(l1.arrival(quarter, 0, 0.0, kLine), 202.0,
               0.0);  // misses before its turn: nothing is on its way
    CHECK_NEAR(l1.arrival(quarter, 0, 10.0, kLine), 202.0, 0.0);
    CHECK_NEAR(l1.l2().bandwidth().bytes(), 128.0, 0.0);
    for (int i = 0; i < 1000; ++i) l1.arrival(quarter, 0, 1000.0 * i, kLine);
    CHECK_NEAR(l1.l2().bandwidth().bytes(), 1002 * 0.25 * 128.0, 2 * 128.0);  // the share stays the rate
}

void it_misses_before_its_turn_once() {
    const Settings s = test::settings();
    L1 l1(1, s);
    l1.arrival(load(0.25, 1.0), 0, 0.0, kLine);
    CHECK_NEAR(l1.arrival(load(0.25, 1.0), 0, 1000.0, kLine), 0.0, 0.0);  // long there
    CHECK_NEAR(l1.l2().bandwidth().bytes(), 128.0, 0.0);
}

void as_many_hits_wait_as_meet_a_line_in_flight() {
    const Settings s = test::settings();
    L1 l1(1, s);
    int waiting = 0;
    for (int i = 0; i < 4000; ++i) waiting += l1.arrival(load(0.25, 0.5), 0, 1.0, kLine) > 0.0;
    CHECK_NEAR(waiting, 4000 * (0.25 + 0.75 * 0.5), 100.0);
}

// Eight warps share a line and two turns share a sector: in one turn all wait for it, in the other none.
void all_warps_of_a_turn_wait_for_what_its_first_has_missed() {
    const Settings s = test::settings();
    L1 l1(1, s);
    const Instruction shared = load(1.0 / 16, 7.0 / 15);
    for (int turn = 0; turn < 100; ++turn) {
        const double time = 1000.0 * turn;
        for (int warp = 0; warp < 8; ++warp)
            CHECK_NEAR(l1.arrival(shared, 0, time + warp, kLine), turn % 2 ? 0.0 : time + 202.0, 0.0);
    }
}

void hits_on_lines_that_have_arrived_do_not_wait() {
    const Settings s = test::settings();
    L1 l1(1, s);
    const Instruction hits = load(0.0, 1.0);
    CHECK_NEAR(l1.arrival(hits, 0, 50.0, kLine), 0.0, 0.0);
}

void a_backlog_at_l2_or_dram_stops_it() {
    Settings s = test::settings();
    s.l2_bytes = 1.0;
    s.dram_bytes = 0.5;
    L1 l1(1, s);
    Instruction missing = load(1.0);
    l1.arrival(missing, 0, 0.0, kLine);  // 128 cycles at L2
    CHECK_NEAR(l1.queues_shrink_to(100.0), 28.0, 0.0);
    missing.l2_miss_rate = 1.0;
    l1.arrival(missing, 0, 0.0, kLine);  // from 128 on 256 cycles at DRAM
    CHECK_NEAR(l1.queues_shrink_to(100.0), 284.0, 0.0);
}

}  // namespace

int main() {
    a_hit_is_there_and_a_miss_comes_from_l2();
    misses_wait_for_their_port_and_stores_have_one_of_their_own();
    what_is_written_leaves_in_packets_behind_an_address_for_each_line();
    part_of_an_access_touches_part_of_its_lines();
    a_hit_on_a_line_in_flight_waits_for_it();
    the_first_of_a_turn_misses_and_a_later_one_hits_in_its_place();
    it_misses_before_its_turn_once();
    as_many_hits_wait_as_meet_a_line_in_flight();
    all_warps_of_a_turn_wait_for_what_its_first_has_missed();
    hits_on_lines_that_have_arrived_do_not_wait();
    a_backlog_at_l2_or_dram_stops_it();
    return warpwatt::test::failures();
}
