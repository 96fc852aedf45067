#include "emulate/shared_banks.h"

#include <algorithm>

#include "emulate/distinct_numbers.h"

namespace warpwatt::emulate {

namespace {

using Addresses = std::array<std::uint64_t, kLanes>;

constexpr int kBanks = 32, kWordShift = 2;

// The most different words that one bank must deliver. Accesses are aligned: two lanes' words are the same or
// have none in common.
int fullest_bank(const Addresses& addresses, LaneMask lanes, int words) {
    std::array<int, kBanks> words_of_bank{};
    int most = 0;
    const auto deliver = [&](std::uint64_t first) {
        for (std::uint64_t word = first; word < first + words; ++word)
            most = std::max(most, ++words_of_bank[word % kBanks]);
    };
    DistinctNumbers<kLanes> seen;
    for_each_lane(lanes, [&](int lane) {
        const std::uint64_t first = addresses[lane] >> kWordShift;
        if (seen.insert(first)) deliver(first);
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

// Words that a lane accesses, and groups of lanes that are served one after the other where neighbours
// differ.
int words_of(std::int64_t bytes) { return std::max(1, static_cast<int>(bytes >> kWordShift)); }
int groups_of(int words) { return std::min(words, 4); }

}  // namespace

bool served_together(std::int64_t bytes) { return groups_of(words_of(bytes)) == 1; }

int wavefronts_of_one(LaneMask lanes, std::int64_t bytes) {
    const int words = words_of(bytes), passes = (words + kBanks - 1) / kBanks;
    const int groups = std::max(1, groups_of(words) / 2);
    if (groups == 1) return lanes ? passes : 0;
    constexpr LaneMask kHalfWarp = 0xFFFF;
    return (lanes & kHalfWarp ? passes : 0) + (lanes & ~kHalfWarp ? passes : 0);
}

int wavefronts(const Addresses& addresses, LaneMask lanes, std::int64_t bytes) {
    const int words = words_of(bytes);
    int groups = groups_of(words);
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
