#include "sm/load_store_unit.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

void it_takes_one_access_after_the_other() {
    const Settings s = test::settings();
    LoadStoreUnit unit(1, s);
    const MemoryAccess access = {2.0, 0.0, 0.0};
    const AccessTimes first = unit.access(test::shared_load(2.0), 0, 10, &access);
    CHECK(first.accepted == 10 && first.operands_read == 19 && first.done == 34);
    const AccessTimes second = unit.access(test::shared_load(2.0), 0, 10, &access);
    CHECK(second.accepted == 12 && second.operands_read == 21 && second.done == 36);
    CHECK_NEAR(unit.shared_memory_busy_cycles(), 4.0, 0.0);
    CHECK_NEAR(unit.l1_busy_cycles(), 0.0, 0.0);
}

void conflicts_delay_the_result_and_what_follows() {
    const Settings s = test::settings();
    LoadStoreUnit unit(1, s);
    const MemoryAccess conflict = {32.0, 0.0, 0.0}, plain = {2.0, 0.0, 0.0};
    const AccessTimes first = unit.access(test::shared_load(2.0), 0, 0, &conflict);
    CHECK(first.done == 30 + 24 && first.operands_read == 30 + 9);
    CHECK(unit.access(test::shared_load(2.0), 0, 0, &plain).accepted == 32);
}

void parts_of_cycles_end_with_the_cycle() {
    const Settings s = test::settings();
    LoadStoreUnit unit(1, s);
    const MemoryAccess access = {2.5, 0.0, 0.0};
    unit.access(test::shared_load(2.5), 0, 0, &access);
    CHECK(unit.access(test::shared_load(2.5), 0, 0, &access).accepted == 3);
    CHECK(unit.access(test::shared_load(2.5), 0, 0, &access).accepted == 5);
}

void constants_do_not_pass_it() {
    const Settings s = test::settings();
    LoadStoreUnit unit(1, s);
    const MemoryAccess access = {8.0, 0.0, 0.0}, constant = {0.0, 0.0, 0.0};
    unit.access(test::shared_load(8.0), 0, 0, &access);
    Instruction load = test::shared_load(0.0);
    load.shared_memory = 0;
    CHECK(unit.access(load, 0, 4, &constant).accepted == 4);
    CHECK_NEAR(unit.busy_cycles(), 8.0, 0.0);
}

void with_all_lanes_off_a_load_takes_few_cycles_and_a_shuffle_its_own() {
    const Settings s = test::settings();
    LoadStoreUnit unit(1, s);
    CHECK(unit.access(test::shared_load(2.0), 0, 0, nullptr).done == 12);
    CHECK(unit.access(test::global_load(), 0, 0, nullptr).done == 12);
    CHECK_NEAR(unit.busy_cycles(), 0.0, 0.0);
    Instruction shuffle = test::shared_load(2.0);
    shuffle.shared_memory = 0;
    CHECK(unit.access(shuffle, 0, 0, nullptr).done == 24);
    CHECK_NEAR(unit.busy_cycles(), 2.0, 0.0);
}

void a_load_is_done_with_its_latency_or_when_its_miss_arrives() {
    const Settings s = test::settings();
    LoadStoreUnit unit(1, s);
    Instruction load = test::global_load();
    const MemoryAccess line = {2.0, 4.0, 1.0};
    CHECK(unit.access(load, 0, 0, &line).done == 30);
    load.l1_miss_rate = 1.0;
    CHECK(unit.access(load, 0, 100, &line).done == 302);  // L2's latency and the transfer
    CHECK_NEAR(unit.l1_busy_cycles(), 4.0, 0.0);
    const MemoryAccess scattered = {10.0, 4.0, 1.0};
    CHECK(unit.access(load, 0, 200, &scattered).done ==
          410);  // misses leave behind eight cycles of conflicts
}

void it_stops_while_the_queue_behind_l1_is_too_long() {
    Settings s = test::settings();
    s.l2_bytes = 0.1;  // 1280 cycles for a line
    LoadStoreUnit unit(1, s);
    Instruction load = test::global_load();
    load.l1_miss_rate = 1.0;
    const MemoryAccess line = {2.0, 4.0, 1.0}, shared = {2.0, 0.0, 0.0};
    unit.access(load, 0, 0, &line);
    CHECK(unit.access(test::shared_load(2.0), 0, 4, &shared).accepted == 4);
    CHECK(unit.access(load, 0, 8, &line).accepted == 280);  // 1280 less the backlog of 1000
}

}  // namespace

int main() {
    it_takes_one_access_after_the_other();
    conflicts_delay_the_result_and_what_follows();
    parts_of_cycles_end_with_the_cycle();
    constants_do_not_pass_it();
    with_all_lanes_off_a_load_takes_few_cycles_and_a_shuffle_its_own();
    a_load_is_done_with_its_latency_or_when_its_miss_arrives();
    it_stops_while_the_queue_behind_l1_is_too_long();
    return warpwatt::test::failures();
}
