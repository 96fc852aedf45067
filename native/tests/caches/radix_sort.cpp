#include "caches/radix_sort.h"

#include <limits>

#include "tests/check.h"

using namespace warpwatt::caches;

namespace {

struct Item {
    std::int64_t number;
    int place;
};

// Numbers from a sequence that goes all around (a linear congruential generator), each several times.
std::vector<Item> mixed(std::size_t count, int bits) {
    std::vector<Item> items;
    std::uint64_t state = 1;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto number = static_cast<std::int64_t>(state) >> (64 - bits);  // of either sign
        items.push_back({number, static_cast<int>(i)});
    }
    return items;
}

bool in_order(const std::vector<Item>& items) {
    for (std::size_t i = 1; i < items.size(); ++i) {
        const Item &before = items[i - 1], &item = items[i];
        if (before.number > item.number) return false;
        if (before.number == item.number && before.place > item.place) return false;
    }
    return true;
}

void items_are_sorted_and_equal_ones_keep_their_order() {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, kFewItems - 1, kFewItems, 20 * kFewItems})
        for (const int bits : {1, 8, 11, 12, 40, 64}) {
            std::vector<Item> items = mixed(count, bits);
            radix_sort(items, [](const Item& item) { return item.number; });
            CHECK(items.size() == count);
            CHECK(in_order(items));
        }
}

void the_ends_of_the_range_are_as_far_apart_as_can_be() {
    std::vector<Item> items(kFewItems, {0, 0});
    items.front().number = std::numeric_limits<std::int64_t>::max();
    items.back().number = std::numeric_limits<std::int64_t>::min();
    radix_sort(items, [](const Item& item) { return item.number; });
    CHECK(items.front().number == std::numeric_limits<std::int64_t>::min());
    CHECK(items.back().number == std::numeric_limits<std::int64_t>::max());
}

}  // namespace

int main() {
    items_are_sorted_and_equal_ones_keep_their_order();
    the_ends_of_the_range_are_as_far_apart_as_can_be();
    return warpwatt::test::failures();
}
