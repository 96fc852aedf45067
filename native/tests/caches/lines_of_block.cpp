#include "caches/lines_of_block.h"

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

void a_line_is_found_again_until_the_next_block_starts() {
    LinesOfBlock lines(4);
    for (std::int64_t i = 0; i < 4; ++i) CHECK(lines.find_or_insert(1000 + i, i) == i);
    for (std::int64_t i = 0; i < 4; ++i) CHECK(lines.find_or_insert(1000 + i, 4) == i);
    lines.start_block(4);
    CHECK(lines.find_or_insert(1000, 4) == 4);
    CHECK(lines.find_or_insert(1000, 5) == 4);
}

void the_longest_run_is_of_one_block() {
    const std::int32_t blocks[] = {0, 0, 1, 1, 1, 2, 0, 0};
    CHECK(longest_run(blocks, 8) == 3);
    CHECK(longest_run(blocks, 0) == 1);
}

}  // namespace

int main() {
    a_line_is_found_again_until_the_next_block_starts();
    the_longest_run_is_of_one_block();
    return warpwatt::test::failures();
}
