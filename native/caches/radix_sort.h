// Stable sorting by whole numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpwatt::caches {

inline constexpr int kDigitBits = 11;
inline constexpr std::size_t kFewItems = 256;  // for so many, counting digits takes longer than comparing

// Sorts items by the number that `number_of` returns of each, digit by digit from the least significant
// (Knuth, volume 3, section 5.2.5). Items in order are left as they are.
template <typename Item, typename NumberOf>
void radix_sort(std::vector<Item>& items, NumberOf number_of) {
    const auto below = [&](const Item& one, const Item& other) { return number_of(one) < number_of(other); };
    if (std::is_sorted(items.begin(), items.end(), below)) return;
    if (items.size() < kFewItems) return std::stable_sort(items.begin(), items.end(), below);
    const auto [lowest, highest] = std::minmax_element(items.begin(), items.end(), below);
    const auto first = static_cast<std::uint64_t>(number_of(*lowest));
    const std::uint64_t range = static_cast<std::uint64_t>(number_of(*highest)) - first;
    std::vector<Item> sorted(items.size());
    for (int shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
        const auto digit_of = [&](const Item& item) {
            return (static_cast<std::uint64_t>(number_of(item)) - first) >> shift & ((1U << kDigitBits) - 1);
        };
        std::array<std::size_t, 1 << kDigitBits> places{};
        for (const Item& item : items) ++places[digit_of(item)];
        std::size_t place = 0;
        for (std::size_t& count : places) place += std::exchange(count, place);
        for (const Item& item : items) sorted[places[digit_of(item)]++] = item;
        items.swap(sorted);
    }
}

}  // namespace warpwatt::caches
