#include "streams/repetition.h"

#include "tests/check.h"

using namespace warpwatt::streams;

namespace {

std::vector<Run> find(const std::vector<std::int64_t>& codes, Prefer prefer) {
    std::vector<std::int64_t> seen(10);
    return find_runs(codes, next_visits(codes, seen), prefer);
}

void repetitions_end_where_the_codes_differ() {
    const std::vector<std::int64_t> codes{1, 2, 1, 2, 1, 3};
    CHECK(count_repetitions(codes, 0, 2) == 2);
    CHECK(count_repetitions(codes, 4, 1) == 1);
}

void a_visit_leads_to_the_next_of_the_same_code() {
    std::vector<std::int64_t> seen(3, 99);
    const std::vector<std::int64_t> codes{1, 2, 1, 1};
    CHECK((next_visits(codes, seen) == std::vector<std::int64_t>{2, -1, 3, -1}));
}

void a_loop_between_other_code_is_one_run() {
    const std::vector<Run> runs = find({0, 1, 2, 1, 2, 1, 2, 1, 2, 3}, Prefer::kMostSteps);
    CHECK(runs.size() == 1);
    CHECK(runs[0].first_step == 1 && runs[0].period == 2 && runs[0].repetitions == 4);
}

void three_repetitions_are_too_few() { CHECK(find({1, 2, 1, 2, 1, 2}, Prefer::kMostSteps).empty()); }

void of_nested_loops_the_outer_or_the_inner_one() {
    std::vector<std::int64_t> codes;
    for (int i = 0; i < 4; ++i) codes.insert(codes.end(), {1, 2, 2, 2, 2, 2});
    const std::vector<Run> outer = find(codes, Prefer::kMostSteps);
    CHECK(outer.size() == 1 && outer[0].period == 6 && outer[0].repetitions == 4);
    codes.erase(codes.begin());  // from an inner step on, the shortest period repeats first
    const std::vector<Run> inner = find(codes, Prefer::kShortestPeriod);
    CHECK(inner.size() == 4 && inner[0].period == 1 && inner[0].repetitions == 5);
}

}  // namespace

int main() {
    repetitions_end_where_the_codes_differ();
    a_visit_leads_to_the_next_of_the_same_code();
    a_loop_between_other_code_is_one_run();
    three_repetitions_are_too_few();
    of_nested_loops_the_outer_or_the_inner_one();
    return warpwatt::test::failures();
}
