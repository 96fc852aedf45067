#include "emulate/trace.h"

#include "emulate/run_time.h"
#include "emulate/sorted_trace.h"
#include "emulate/touched_lines.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

using namespace warpwatt::test;

namespace {

void request(TestMachine& test, int warp, std::initializer_list<std::uint64_t> lines) {
    TouchedLines touched;
    for (const std::uint64_t line : lines) touched.add(line * 128, 128);
    test.machine.trace.record_request(test.warp(warp), 10 + warp, 1, 0, touched);
}

void lines_are_recorded_in_ascending_order() {
    TestMachine test;
    request(test, 0, {5, 2});
    CHECK(test.machine.trace.line_count == 2);
    CHECK(test.lines[0] == (2 * 128 | 15) && test.lines[1] == (5 * 128 | 15));
}

void what_finds_no_room_and_all_behind_it_are_dropped() {
    TestMachine test;
    test.machine.trace.line_room = 2;
    request(test, 0, {1, 2, 3});
    CHECK(test.machine.trace.dropped && test.machine.trace.request_count == 0);
    request(test, 0, {1});
    record_step(&test.machine, &test.warp(), 0);
    CHECK(test.machine.trace.request_count == 0 && test.machine.trace.step_count == 0);
}

void steps_find_room_for_as_many_as_there_is() {
    TestMachine test;
    test.machine.trace.step_room = 2;
    test.warp().active = 0xF0;
    for (int block = 0; block < 3; ++block) record_step(&test.machine, &test.warp(), block);
    CHECK(test.machine.trace.step_count == 2 && test.machine.trace.dropped);
    CHECK(test.steps[1].block == 1 && test.steps[1].active == 0xF0);
}

// Warps 1 and 0 take turns: events are sorted by warp, each request with its lines and its step.
void events_are_sorted_by_warp() {
    TestMachine test(64);
    for (int i = 0; i < 2; ++i)
        for (const int warp : {1, 0}) {
            record_step(&test.machine, &test.warp(warp), 10 * warp + i);
            request(test, warp, {static_cast<std::uint64_t>(100 * warp + i)});
        }
    std::array<std::int64_t, 3> step_start, access_start;
    std::array<std::int32_t, 4> blocks, instructions;
    std::array<LaneMask, 4> masks, lanes;
    std::array<std::uint8_t, 4> wavefronts;
    std::array<std::int64_t, 4> steps;
    std::array<std::int64_t, 5> line_start;
    std::array<std::uint64_t, 4> lines;
    std::array<std::uint32_t, 4> barriers;
    std::array<std::int64_t, 4> changes;
    sort_trace(&test.machine, 2, step_start.data(), blocks.data(), masks.data(), access_start.data(),
               instructions.data(), lanes.data(), wavefronts.data(), steps.data(), line_start.data(),
               lines.data(), barriers.data(), changes.data());
    CHECK((step_start == std::array<std::int64_t, 3>{0, 2, 4}) && access_start == step_start);
    CHECK((blocks == std::array<std::int32_t, 4>{0, 1, 10, 11}));
    CHECK((instructions == std::array<std::int32_t, 4>{10, 10, 11, 11}));
    CHECK((steps == std::array<std::int64_t, 4>{0, 1, 2, 3}));
    CHECK((line_start == std::array<std::int64_t, 5>{0, 1, 2, 3, 4}));
    for (int i = 0; i < 4; ++i) CHECK(barriers[i] == kNoBarrierObject && changes[i] == 0);
    for (int i = 0; i < 4; ++i) CHECK(lines[i] >> 7 == static_cast<std::uint64_t>(i / 2 * 100 + i % 2));
}

}  // namespace

int main() {
    lines_are_recorded_in_ascending_order();
    what_finds_no_room_and_all_behind_it_are_dropped();
    steps_find_room_for_as_many_as_there_is();
    events_are_sorted_by_warp();
    return warpwatt::test::failures();
}
