// A frame for unit tests of steps: values by number, and steps by name, one at a time.
#pragma once

#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "emulate/steps.h"
#include "record_layout.h"
#include "tests/check.h"
#include "tests/emulate/test_machine.h"

namespace warpwatt::test {

template <typename T>
using Lanes = std::array<T, kLanes>;

inline constexpr int kValues = 6, kResult = 3, kNoMask = -1;

inline std::vector<NamedCode> all_steps() {
    std::int64_t count = 0;
    const auto* codes = static_cast<const NamedCode*>(emulator_steps(&count));
    return {codes, codes + count};
}

class TestFrame : public TestMachine {
public:
    using TestMachine::TestMachine;

    template <typename T>
    Lanes<T>& value(int number) {
        return *reinterpret_cast<Lanes<T>*>(values_.data() + 256 * number);
    }
    template <typename T>
    Lanes<T>& result() {
        return value<T>(kResult);
    }
    LaneMask& mask(int number) { return value<LaneMask>(number)[0]; }

    // Executes a step on the values 0, 1 and `c`.
    void run(const std::string& name, std::int64_t number = 0, int c = 2) {
        for (const NamedCode& step : all_steps())
            if (name == step.name) {
                const auto execute = reinterpret_cast<void (*)(const Frame&, const Step&)>(step.value);
                const Step one{execute, 256 * kResult, 0, 256, c == kNoMask ? c : 256 * c, number};
                return execute({machine, warp(), active, values_.data()}, one);
            }
        check(false, ("no step " + name).c_str(), __FILE__, __LINE__);
    }

    // Fills values with random bits, half of the lanes with some of `edges`.
    template <typename T>
    void randomise(const std::vector<T>& edges) {
        for (int number = 0; number < kResult; ++number)
            for (T& lane : value<T>(number)) {
                const std::uint64_t bits = random_();
                lane =
                    static_cast<T>(bits >> 32 & 1 ? edges[bits % edges.size()] : static_cast<T>(random_()));
            }
    }

    LaneMask random_mask() { return static_cast<LaneMask>(random_()); }

    LaneMask active = kAllLanes;

private:
    alignas(64) std::array<unsigned char, 256 * kValues> values_{};
    std::mt19937_64 random_{17};
};

template <typename Visit>
void for_each_width(Visit visit) {
    visit.template operator()<std::uint8_t>();
    visit.template operator()<std::uint16_t>();
    visit.template operator()<std::uint32_t>();
    visit.template operator()<std::uint64_t>();
}

template <typename T>
std::string bits_of() {
    return std::to_string(8 * sizeof(T));
}

// Around shift widths, signs and ends.
template <typename T>
std::vector<T> integer_edges() {
    constexpr T most = std::numeric_limits<T>::max(), width = 8 * sizeof(T);
    return {0, 1, 2, width - 1, width, width + 1, most, most - 1, most / 2, most / 2 + 1};
}

}  // namespace warpwatt::test
