#include "sm/sub_core.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

Instruction on(Pipe pipe, Pipe other, std::int32_t cycles) {
    Instruction instruction = test::plain();
    instruction.pipe = pipe;
    instruction.alternative_pipe = other;
    instruction.pipe_cycles = cycles;
    return instruction;
}

// A sub-core and the pipes of its SM.
struct Core {
    Settings settings = test::settings();
    SubCore core{settings, 1};
    SharedPipes shared;

    UnitsFree free(const Instruction& i) const {
        return core.units_free(IssueNeeds::of(i, settings), shared);
    }
    void take(const Instruction& i, Cycle time) {
        core.take_units(i, IssueNeeds::of(i, settings), shared, time);
    }
};

void a_pipe_is_taken_for_its_cycles() {
    Core core;
    const Instruction alu = on(Pipe::alu, Pipe::none, 2);
    core.take(alu, 10);
    CHECK(core.free(alu).time == 12);
    CHECK(core.free(on(Pipe::tensor, Pipe::none, 2)).time <= 10);
    CHECK(core.free(test::plain()).time <= 10);
    CHECK(core.core.pipes[Pipe::alu].busy_cycles == 2);
}

void a_second_pipe_is_taken_when_it_is_free() {
    Core core;
    const Instruction fma = on(Pipe::fma, Pipe::fma_lite, 2);
    core.take(fma, 10);
    CHECK(core.free(fma).time <= 10);
    core.take(fma, 11);
    CHECK(core.free(fma).time == 12);
    CHECK(core.free(on(Pipe::fma, Pipe::none, 2)).time == 13);
}

void what_needs_no_pipe_does_not_wait_for_what_needed_none() {
    Core core;
    Instruction none = on(Pipe::none, Pipe::none, 9);
    none.sm_pipe_cycles = 9;
    core.take(none, 10);
    CHECK(core.free(test::plain()).time <= 10);
}

void what_passes_the_queue_needs_room_there_and_not_its_pipe() {
    Core core;
    Instruction special = on(Pipe::xu, Pipe::none, 8);
    special.operation = Operation::mio_pipe;
    core.core.pipes[Pipe::xu].take(0, 100);
    CHECK(core.free(special).time == 0);
    for (int i = 0; i < 5; ++i) core.core.mio_queue.leave(50 + i);
    CHECK(core.free(special).time == 50);
    CHECK(core.free(test::shared_load(2.0)).time == 50);
    CHECK(core.free(test::plain()).time == 0);
}

void a_wait_for_register_banks_is_told_from_one_for_a_pipe() {
    Core core;
    Instruction fma = on(Pipe::fma, Pipe::none, 2);
    fma.even_bank_reads = 3;
    core.take(fma, 10);  // the pipe until 12, the bank until 13
    CHECK(core.free(fma).time == 13 && core.free(fma).register_banks);
    fma.even_bank_reads = 1;
    CHECK(core.free(fma).time == 12 && !core.free(fma).register_banks);
    fma.even_bank_reads = 2;
    CHECK(core.free(fma).time == 12 && !core.free(fma).register_banks);  // both: the pipe's
}

void what_issues_for_two_cycles_lets_nothing_issue_beside_it() {
    Core core;
    Instruction load = test::plain();
    load.issue_cycles = 2;
    core.take(load, 10);
    CHECK(core.free(test::plain()).time == 12 && core.free(test::plain()).register_banks);
}

void sub_cores_share_a_pipe_of_the_sm() {
    Core core;
    Instruction barrier = test::plain();
    barrier.sm_pipe = SmPipe::barrier;
    barrier.sm_pipe_cycles = 2;
    core.take(barrier, 10);
    core.take(barrier, 10);
    CHECK(core.free(barrier).time == 14);
    CHECK(core.shared[SmPipe::barrier].busy_cycles == 4);
}

}  // namespace

int main() {
    a_pipe_is_taken_for_its_cycles();
    a_second_pipe_is_taken_when_it_is_free();
    what_needs_no_pipe_does_not_wait_for_what_needed_none();
    what_passes_the_queue_needs_room_there_and_not_its_pipe();
    a_wait_for_register_banks_is_told_from_one_for_a_pipe();
    what_issues_for_two_cycles_lets_nothing_issue_beside_it();
    sub_cores_share_a_pipe_of_the_sm();
    return warpwatt::test::failures();
}
