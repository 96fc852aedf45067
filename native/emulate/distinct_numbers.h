// A set of at most `kRoom` numbers, on the stack.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace warpwatt::emulate {

template <std::size_t kRoom>
class DistinctNumbers {
public:
    // Adds a number; false if it was there.
    bool insert(std::uint64_t number) {
        std::size_t place = (number ^ number >> 9) % kCells;
        for (; used_[place]; place = (place + 1) % kCells)
            if (numbers_[place] == number) return false;
        used_[place] = true;
        numbers_[place] = number;
        return true;
    }

private:
    static constexpr std::size_t kCells = 2 * kRoom;  // at most half are used, so that a search is short

    std::bitset<kCells> used_;
    std::array<std::uint64_t, kCells> numbers_;
};

}  // namespace warpwatt::emulate
