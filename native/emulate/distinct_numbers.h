// A set of at most `kRoom` numbers, on the stack; fastest for numbers in ascending order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpwatt::emulate {

template <std::size_t kRoom>
class DistinctNumbers {
public:
    // Adds a number; false if it was there.
    bool insert(std::uint64_t number) {
        if (size_ == 0 || number > highest_) return append(number);
        for (int place = size_ - 1; place >= 0; --place)
            if (numbers_[place] == number) return false;
        return append(number);
    }

private:
    bool append(std::uint64_t number) {
        highest_ = size_ == 0 || number > highest_ ? number : highest_;
        numbers_[size_++] = number;
        return true;
    }

    int size_ = 0;
    std::uint64_t highest_ = 0;
    std::array<std::uint64_t, kRoom> numbers_;
};

}  // namespace warpwatt::emulate
