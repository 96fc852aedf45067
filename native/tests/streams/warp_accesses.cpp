#include "streams/warp_accesses.h"

#include <array>

#include "tests/check.h"

using namespace warpwatt::streams;

namespace {

// Three steps, of which the middle one accesses nothing; the first copies: a read and a write.
void an_execution_is_one_access() {
    const std::array<std::int32_t, 3> block{1, 0, 1}, instruction{5, 5, 6};
    const std::array<std::int64_t, 3> step{0, 0, 2};
    const std::array<std::uint32_t, 3> mask{0b0011, 0b0110, 0xff};
    const std::array<std::uint8_t, 3> passes{0, 2, 3};
    const std::array<std::int64_t, 4> line_start{0, 2, 2, 3};
    const std::array<std::uint64_t, 3> lines{1 << 7 | 0b0011, 2 << 7 | 0b0001, 9 << 7 | 0b1111};
    const std::array<std::int64_t, 2> first{0, 4}, behind{4, 7};
    std::array<StreamStep, 3> steps;
    std::array<std::int64_t, 3> found_instruction;
    std::array<double, 3> lanes, wavefronts, sectors, found_lines;
    const TracedAccesses trace{3,
                               block.data(),
                               3,
                               step.data(),
                               instruction.data(),
                               mask.data(),
                               passes.data(),
                               line_start.data(),
                               lines.data()};
    const auto count = write_accesses(
        trace, first.data(), behind.data(), steps.data(),
        {found_instruction.data(), lanes.data(), wavefronts.data(), sectors.data(), found_lines.data()});
    CHECK(count == 2);
    CHECK(found_instruction[0] == 5 && found_instruction[1] == 6);
    CHECK(lanes[0] == 3 && lanes[1] == 8);
    CHECK(wavefronts[0] == 2 && wavefronts[1] == 3);
    CHECK(sectors[0] == 3 && sectors[1] == 4);
    CHECK(found_lines[0] == 2 && found_lines[1] == 1);
    const std::array<std::int64_t, 3> begins{4, 0, 4}, ends{7, 4, 7}, accesses{0, 1, 1};
    for (int i = 0; i < 3; ++i)
        CHECK(steps[i].first == begins[i] && steps[i].behind == ends[i] && steps[i].access == accesses[i]);
}

}  // namespace

int main() {
    an_execution_is_one_access();
    return warpwatt::test::failures();
}
