#include "sm/mio_queue.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

// Five instructions go in at once, then one per four cycles (Huerta et al., MICRO 2025, table 1).
void it_takes_as_many_as_it_is_deep() {
    MioQueue queue(test::settings());
    for (int i = 0; i < 4; ++i) queue.leave(queue.address(10 + i));
    CHECK(queue.free() == 0);
    queue.leave(queue.address(14));
    CHECK(queue.free() == 10);  // when the first has left
    queue.leave(queue.address(15));
    CHECK(queue.free() == 14);
}

void the_address_unit_takes_one_in_four_cycles() {
    MioQueue queue(test::settings());
    CHECK(queue.address(10) == 10);
    CHECK(queue.address(11) == 14);
    CHECK(queue.address(30) == 30);
}

void a_special_function_waits_before_its_unit_and_the_next_one_in_the_queue() {
    MioQueue queue(test::settings());
    ExecutionPipe unit;
    CHECK(queue.pass_to_special(unit, 8, 0) == 0);
    CHECK(queue.pass_to_special(unit, 8, 1) == 8);   // waits before the unit
    CHECK(queue.pass_to_special(unit, 8, 2) == 16);  // leaves the queue when that one goes in
    CHECK(queue.address(3) == 9);                    // what comes behind is held back until then
    CHECK(unit.busy_cycles == 24);
}

void a_pipe_of_the_sm_takes_what_comes_from_several_queues_in_turn() {
    MioQueue first(test::settings()), second(test::settings());
    ExecutionPipe shared;
    CHECK(first.pass_to(shared, 16, 0) == 0);
    CHECK(second.pass_to(shared, 16, 1) == 16);
    CHECK(first.pass_to(shared, 16, 2) == 32);
}

}  // namespace

int main() {
    it_takes_as_many_as_it_is_deep();
    the_address_unit_takes_one_in_four_cycles();
    a_special_function_waits_before_its_unit_and_the_next_one_in_the_queue();
    a_pipe_of_the_sm_takes_what_comes_from_several_queues_in_turn();
    return warpwatt::test::failures();
}
