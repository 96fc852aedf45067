#include "emulate/touched_lines.h"

#include "tests/check.h"

using namespace warpwatt::emulate;

namespace {

using Addresses = std::array<std::uint64_t, kLanes>;

Addresses strided(std::uint64_t first, std::uint64_t stride) {
    Addresses addresses;
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = first + lane * stride;
    return addresses;
}

TouchedLines touched(std::uint64_t first, std::uint64_t stride, std::int64_t bytes) {
    TouchedLines lines;
    lines.add_lanes(strided(first, stride), kAllLanes, bytes);
    return lines;
}

void contiguous_words_touch_four_sectors_of_one_line() {
    const TouchedLines lines = touched(0, 4, 4);
    CHECK(lines.size() == 1);
    CHECK(lines.sectors() == 4);
    CHECK(lines.begin()->sectors == 15);
    CHECK(lines.tag_passes() == 1);
}

void a_misaligned_warp_touches_one_sector_and_one_line_more() {
    const TouchedLines lines = touched(4, 4, 4);
    CHECK(lines.size() == 2);
    CHECK(lines.sectors() == 5);
    CHECK((lines.begin() + 1)->sectors == 1);
}

// A stride of s >= 32 bytes touches 32 sectors, and 32 s / 128 lines below a line's size.
void strides_touch_what_they_span() {
    for (const std::uint64_t stride : {32, 64, 128, 256, 4096}) {
        const TouchedLines lines = touched(0, stride, 4);
        CHECK(lines.sectors() == 32);
        CHECK(lines.size() == (stride >= 128 ? 32 : static_cast<int>(32 * stride / 128)));
    }
}

void pairs_of_bits_of_a_line_choose_its_tag_bank() {
    CHECK(touched(0, 128, 4).tag_passes() == 8);
    CHECK(touched(0, 212, 4).tag_passes() == 12);
    CHECK(touched(0, 512, 4).tag_passes() == 8);
    CHECK(touched(0, 640, 4).tag_passes() == 21);
}

void an_access_across_a_sector_touches_both() {
    TouchedLines lines;
    lines.add(28, 8);
    CHECK(lines.size() == 1);
    CHECK(lines.begin()->sectors == 3);
}

void only_lanes_that_are_on_touch() {
    TouchedLines lines;
    lines.add_lanes(strided(0, 128), 0b101, 4);
    CHECK(lines.size() == 2);
    CHECK((lines.begin() + 1)->line == 2);
}

void lines_are_found_again_in_any_order_and_stay_sorted() {
    TouchedLines lines;
    for (const std::uint64_t line : {9, 3, 7, 3, 9, 1}) lines.add(line * 128 + 32 * (line % 4), 1);
    CHECK(lines.size() == 4);
    const std::array<std::uint64_t, 4> expected{1, 3, 7, 9};
    for (int i = 0; i < 4; ++i) CHECK(lines.begin()[i].line == expected[i]);
    CHECK(lines.begin()[1].sectors == 1 << 3);
}

void lines_of_two_requests_are_united() {
    TouchedLines all = touched(0, 4, 4);
    TouchedLines others;
    others.add(0, 1);
    others.add(256, 1);
    all.add(others);
    CHECK(all.size() == 2);
    CHECK(all.sectors() == 5);
}

}  // namespace

int main() {
    contiguous_words_touch_four_sectors_of_one_line();
    a_misaligned_warp_touches_one_sector_and_one_line_more();
    strides_touch_what_they_span();
    pairs_of_bits_of_a_line_choose_its_tag_bank();
    an_access_across_a_sector_touches_both();
    only_lanes_that_are_on_touch();
    lines_are_found_again_in_any_order_and_stay_sorted();
    lines_of_two_requests_are_united();
    return warpwatt::test::failures();
}
