#include "caches/set_union.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "tests/check.h"

namespace {

std::map<std::int64_t, std::int64_t> found_in(const std::vector<std::int64_t>& numbers) {
    std::vector<std::int64_t> different(numbers.size()), times(numbers.size());
    const auto count = occurrences(static_cast<std::int64_t>(numbers.size()), numbers.data(),
                                   different.data(), times.data());
    CHECK(std::is_sorted(different.begin(), different.begin() + count));
    std::map<std::int64_t, std::int64_t> found;
    for (std::int64_t i = 0; i < count; ++i) found[different[i]] = times[i];
    CHECK(static_cast<std::int64_t>(found.size()) == count);
    return found;
}

void numbers_are_told_with_their_times() {
    CHECK((found_in({5, 3, 5, -1, 5}) == std::map<std::int64_t, std::int64_t>{{-1, 1}, {3, 1}, {5, 3}}));
    CHECK(found_in({}).empty());
}

void ends_of_the_range_are_no_trouble() {
    const auto low = std::numeric_limits<std::int64_t>::min(),
               high = std::numeric_limits<std::int64_t>::max();
    CHECK((found_in({high, low, high}) == std::map<std::int64_t, std::int64_t>{{low, 1}, {high, 2}}));
}

void dense_and_sparse_numbers_are_counted_alike() {
    std::mt19937_64 random(1);
    for (const std::int64_t span : {10, 1000, 100'000, 1'000'000'000}) {
        std::vector<std::int64_t> numbers(2000);
        std::map<std::int64_t, std::int64_t> wanted;
        for (auto& number : numbers) ++wanted[number = static_cast<std::int64_t>(random() % span) - span / 2];
        CHECK(found_in(numbers) == wanted);
    }
}

void times_need_not_be_asked_for() {
    const std::vector<std::int64_t> numbers{4, 4, 2};
    std::vector<std::int64_t> different(3);
    CHECK(occurrences(3, numbers.data(), different.data(), nullptr) == 2);
    CHECK(different[0] == 2 && different[1] == 4);
}

void what_two_sets_have_in_common_is_counted_once() {
    const std::vector<std::int64_t> some{-3, 0, 5, 9}, others{0, 1, 9, 12};
    CHECK(count_common(4, some.data(), 4, others.data()) == 2);
    CHECK(count_common(4, some.data(), 0, others.data()) == 0);
    CHECK(count_common(4, some.data(), 4, some.data()) == 4);
}

}  // namespace

int main() {
    numbers_are_told_with_their_times();
    ends_of_the_range_are_no_trouble();
    dense_and_sparse_numbers_are_counted_alike();
    times_need_not_be_asked_for();
    what_two_sets_have_in_common_is_counted_once();
    return warpwatt::test::failures();
}
