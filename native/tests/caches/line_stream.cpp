#include "caches/line_stream.h"

#include <array>
#include <vector>

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

// One block of one warp, which executes three basic blocks; four accesses, of which the last is a store.
struct Case {
    std::array<std::int64_t, 2> step_start{0, 3}, access_start{0, 4};
    std::array<std::int32_t, 3> step_block{0, 1, 0};
    std::array<std::int32_t, 4> instruction{0, 1, 0, 2};
    std::array<std::uint32_t, 4> mask{0b1111, 0b11, ~0U, 0xff};
    std::array<std::int64_t, 4> step{0, 0, 1, 2};
    std::array<std::int64_t, 5> line_start{0, 2, 2, 3, 4};
    std::array<std::uint64_t, 4> lines{3 << 7 | 0b0001, 5 << 7 | 0b0111, 9 << 7 | 0b1111, 1 << 7 | 0b0001};
    std::array<std::uint8_t, 3> kind{kReads, kReads, kWrites};
    std::array<std::int64_t, 3> bytes{4, 4, 4};
    std::array<std::int64_t, 3> burst{0, 0, 1};
    std::array<std::uint8_t, 2> awaits{1, 0};

    std::array<std::int32_t, 4> found_instruction, found_block, found_warp;
    std::array<std::int64_t, 4> time, line;
    std::array<std::uint8_t, 4> sectors, found_kind;
    std::array<double, 4> moved;

    void run(bool bursts, bool barriers) {
        const AccessTrace trace{1,
                                1,
                                step_start.data(),
                                step_block.data(),
                                access_start.data(),
                                instruction.data(),
                                mask.data(),
                                step.data(),
                                line_start.data(),
                                lines.data()};
        const AccessingCode code{kind.data(), bytes.data(), bursts ? burst.data() : nullptr,
                                 barriers ? awaits.data() : nullptr};
        write_line_stream(trace, code,
                          {found_instruction.data(), found_block.data(), found_warp.data(), time.data(),
                           line.data(), sectors.data(), found_kind.data(), moved.data()});
    }
};

void a_row_for_each_line_of_an_access() {
    Case of;
    of.run(false, false);
    CHECK((of.found_instruction == std::array{0, 0, 0, 2}));
    CHECK((of.line == std::array<std::int64_t, 4>{3, 5, 9, 1}));
    CHECK((of.sectors == std::array<std::uint8_t, 4>{0b0001, 0b0111, 0b1111, 0b0001}));
    CHECK((of.time == std::array<std::int64_t, 4>{0, 0, 2, 3}));
}

void an_access_shares_its_bytes_among_its_sectors() {
    Case of;
    of.run(false, false);
    CHECK((of.moved == std::array{4.0, 4.0, 32.0, 32.0}));
}

void a_store_of_whole_sectors_says_so() {
    Case of;
    of.run(false, false);
    CHECK((of.found_kind == std::array<std::uint8_t, 4>{kReads, kReads, kReads, kWrites | kWritesWhole}));
    of.mask[3] = 0x7f;
    of.run(false, false);
    CHECK(of.found_kind[3] == kWrites);
}

void what_is_issued_back_to_back_comes_at_one_time() {
    Case of;
    of.instruction = {1, 0, 0, 0};
    of.line_start = {0, 1, 2, 3, 4};
    of.run(true, false);
    CHECK((of.time == std::array<std::int64_t, 4>{0, 0, 2, 3}));  // a burst ends with its basic block
    of.burst = {0, 1, 1};
    of.run(true, false);
    CHECK((of.time == std::array<std::int64_t, 4>{0, 1, 2, 3}));
}

void a_barrier_waits_for_the_blocks_slowest_warp() {
    Case of;  // two warps: the second has one access before the barrier, and its other steps behind it
    std::array<std::int64_t, 3> steps{0, 1, 3}, accesses{0, 2, 4};
    of.step = {0, 0, 1, 2}, of.line_start = {0, 1, 2, 3, 4};
    const AccessTrace trace{2,
                            2,
                            steps.data(),
                            of.step_block.data(),
                            accesses.data(),
                            of.instruction.data(),
                            of.mask.data(),
                            of.step.data(),
                            of.line_start.data(),
                            of.lines.data()};
    of.step_block = {0, 0, 1};
    write_line_stream(
        trace, {of.kind.data(), of.bytes.data(), nullptr, of.awaits.data()},
        {of.found_instruction.data(), of.found_block.data(), of.found_warp.data(), of.time.data(),
         of.line.data(), of.sectors.data(), of.found_kind.data(), of.moved.data()});
    CHECK((of.time == std::array<std::int64_t, 4>{0, 1, 0, 2}));
    CHECK((of.found_warp == std::array{0, 0, 1, 1}));
    CHECK((of.found_block == std::array{0, 0, 0, 0}));
}

}  // namespace

int main() {
    a_row_for_each_line_of_an_access();
    an_access_shares_its_bytes_among_its_sectors();
    a_store_of_whole_sectors_says_so();
    what_is_issued_back_to_back_comes_at_one_time();
    a_barrier_waits_for_the_blocks_slowest_warp();
    return warpwatt::test::failures();
}
