#include "sm/trace.h"

#include "tests/check.h"

using namespace warpwatt::sm;

namespace {

void a_warp_takes_its_steps() {
    const TraceStep steps[] = {{4, 6, 10}, {-1, -1, 11}, {0, 1, 12}};
    TraceCursor warp = TraceCursor::at_start(steps, steps + 3);
    CHECK(warp.advance() && warp.pc == 4 && warp.access == 10);
    CHECK(warp.advance() && warp.pc == 5 && warp.access == 10);
    CHECK(warp.advance() && warp.pc == 0 && warp.access == 12);  // past the step without instructions
    CHECK(!warp.advance() && warp.pc == 0);
}

void a_loop_of_one_instruction_is_taken_again() {
    const TraceStep steps[] = {{3, 4, 0}, {3, 4, 0}};
    TraceCursor warp = TraceCursor::at_start(steps, steps + 2);
    CHECK(warp.advance() && warp.advance() && warp.pc == 3);
    CHECK(!warp.advance());
}

void an_instruction_without_an_access_has_its_lanes_off() {
    const TraceStep steps[] = {{0, 3, 0}};
    const std::int64_t instructions[] = {0, 2};
    const MemoryAccess accesses[] = {{1.0, 4.0, 1.0}, {2.0, 4.0, 1.0}};
    const AccessTrace trace{instructions, accesses, 2};
    TraceCursor warp = TraceCursor::at_start(steps, steps + 1);
    CHECK(warp.advance() && trace.take(warp) == &accesses[0]);
    CHECK(warp.advance() && trace.take(warp) == nullptr);
    CHECK(warp.advance() && trace.take(warp) == &accesses[1]);
    CHECK(trace.take(warp) == nullptr);  // behind the last
}

}  // namespace

int main() {
    a_warp_takes_its_steps();
    a_loop_of_one_instruction_is_taken_again();
    an_instruction_without_an_access_has_its_lanes_off();
    return warpwatt::test::failures();
}
