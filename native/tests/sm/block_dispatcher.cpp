#include "sm/block_dispatcher.h"

#include "tests/check.h"
#include "tests/sm/cases.h"

using namespace warpwatt::sm;

namespace {

void blocks_come_in_line_and_not_before_their_turn_on_the_chip() {
    Settings s = test::settings();
    s.dispatch_cycles = 20.5;
    const std::int64_t blocks[] = {3, 0, 3};
    BlockDispatcher dispatcher(blocks, 3, s);
    const auto first = dispatcher.next(0), second = dispatcher.next(0), third = dispatcher.next(90);
    CHECK(first->ordinal == 0 && first->traced == 3 && first->time == 0);
    CHECK(second->ordinal == 1 && second->traced == 0 && second->time == 20);  // whole cycles
    CHECK(third->ordinal == 2 && third->traced == 3 && third->time == 90);
    CHECK(!dispatcher.next(100));
    CHECK_NEAR(dispatcher.busy_cycles(), 61.5, 0.0);
}

}  // namespace

int main() {
    blocks_come_in_line_and_not_before_their_turn_on_the_chip();
    return warpwatt::test::failures();
}
