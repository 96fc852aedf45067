#include "caches/set_union.h"

#include <algorithm>
#include <vector>

#include "caches/radix_sort.h"

namespace warpwatt::caches {

namespace {

// Numbers that span no more than so many times their count are counted in a table, others are sorted.
constexpr std::int64_t kDense = 16;

class Occurrences {
public:
    Occurrences(std::int64_t* different, std::int64_t* times) : different_(different), times_(times) {}

    void add(std::int64_t number, std::int64_t times) {
        different_[count_] = number;
        if (times_ != nullptr) times_[count_] = times;
        ++count_;
    }

    std::int64_t count() const { return count_; }

private:
    std::int64_t* different_;
    std::int64_t* times_;
    std::int64_t count_ = 0;
};

void count_in_table(std::int64_t count, const std::int64_t* numbers, std::int64_t lowest, std::int64_t span,
                    Occurrences& found) {
    std::vector<std::uint32_t> times(span);
    for (std::int64_t i = 0; i < count; ++i) ++times[numbers[i] - lowest];
    for (std::int64_t place = 0; place < span; ++place)
        if (times[place] > 0) found.add(lowest + place, times[place]);
}

void count_sorted(const std::vector<std::int64_t>& sorted, Occurrences& found) {
    for (auto first = sorted.begin(), end = first; first != sorted.end(); first = end) {
        end = std::find_if(first, sorted.end(), [&](std::int64_t number) { return number != *first; });
        found.add(*first, end - first);
    }
}

}  // namespace

}  // namespace warpwatt::caches

using namespace warpwatt::caches;

std::int64_t occurrences(std::int64_t count, const std::int64_t* numbers, std::int64_t* different,
                         std::int64_t* times) {
    if (count == 0) return 0;
    Occurrences found(different, times);
    const auto [lowest, highest] = std::minmax_element(numbers, numbers + count);
    const std::uint64_t span = static_cast<std::uint64_t>(*highest) - static_cast<std::uint64_t>(*lowest) + 1;
    if (span != 0 && span <= static_cast<std::uint64_t>(kDense * count)) {
        count_in_table(count, numbers, *lowest, static_cast<std::int64_t>(span), found);
        return found.count();
    }
    std::vector<std::int64_t> sorted(numbers, numbers + count);
    radix_sort(sorted, [](std::int64_t number) { return number; });
    count_sorted(sorted, found);
    return found.count();
}

std::int64_t count_common(std::int64_t count, const std::int64_t* numbers, std::int64_t others_count,
                          const std::int64_t* others) {
    std::int64_t common = 0;
    for (std::int64_t i = 0, j = 0; i < count && j < others_count;) {
        common += numbers[i] == others[j];
        const bool up = numbers[i] <= others[j], other_up = others[j] <= numbers[i];
        i += up;
        j += other_up;
    }
    return common;
}
