#include "emulate/shared_banks.h"

#include <algorithm>

#include "emulate/distinct_numbers.h"
#include "emulate/memory_operation.h"

namespace warpwatt::emulate {

namespace {

using Addresses = std::array<std::uint64_t, kLanes>;

constexpr int kBanks = 32, kWordShift = 2;
constexpr int kMostWords = kMostBytes >> kWordShift;  // of a lane

// Calls `visit(word)` for each word that the lanes access, until it returns false; whether it never did.
template <typename Visit>
bool each_word(const Addresses& addresses, LaneMask lanes, int words, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t first = addresses[first_lane(lanes)] >> kWordShift;
        for (std::uint64_t word = first; word < first + words; ++word)
            if (!visit(word)) return false;
    }
    return true;
}

// Whether every bank has at most one of the words that the lanes access.
bool conflict_free(const Addresses& addresses, LaneMask lanes, int words) {
    std::uint32_t used = 0;
    std::array<std::uint64_t, kBanks> word_of;
    return each_word(addresses, lanes, words, [&](std::uint64_t word) {
        const int bank = word % kBanks;
        if (used >> bank & 1) return word_of[bank] == word;
        used |= 1U << bank;
        word_of[bank] = word;
        return true;
    });
}

// The most different words that one bank must deliver.
int fullest_bank(const Addresses& addresses, LaneMask lanes, int words) {
    if (conflict_free(addresses, lanes, words)) return lanes != 0;
    DistinctNumbers<kLanes * kMostWords> seen;
    std::array<int, kBanks> words_of_bank{};
    int most = 0;
    each_word(addresses, lanes, words, [&](std::uint64_t word) {
        if (seen.insert(word)) most = std::max(most, ++words_of_bank[word % kBanks]);
        return true;
    });
    return most;
}

// Whether active lanes whose numbers differ by `distance` in one bit have the same address.
bool paired(const Addresses& addresses, LaneMask lanes, int distance) {
    for (int lane = 0; lane < kLanes; ++lane) {
        const int other = lane ^ distance;
        if (has_lane(lanes, lane) && has_lane(lanes, other) && addresses[lane] != addresses[other])
            return false;
    }
    return true;
}

}  // namespace

int wavefronts(const Addresses& addresses, LaneMask lanes, std::int64_t bytes) {
    const int words = std::max(1, static_cast<int>(bytes >> kWordShift));
    int groups = std::min(words, 4);
    if (groups > 1 && (paired(addresses, lanes, 1) || paired(addresses, lanes, 2))) groups /= 2;
    if (groups == 1) return fullest_bank(addresses, lanes, words);
    const int lanes_per_group = kLanes / groups;
    const LaneMask one_group = (LaneMask{1} << lanes_per_group) - 1;
    int total = 0;
    for (int group = 0; group < groups; ++group)
        total += fullest_bank(addresses, lanes & one_group << (group * lanes_per_group), words);
    return total;
}

}  // namespace warpwatt::emulate
