#include "emulate/touched_lines.h"

#include <algorithm>

namespace warpwatt::emulate {

void TouchedLines::add(std::uint64_t address, std::int64_t bytes) {
    const std::uint64_t last = (address + bytes - 1) >> kSectorShift;
    for (std::uint64_t sector = address >> kSectorShift; sector <= last; ++sector)
        find_or_append(sector >> (kLineShift - kSectorShift)).sectors |= 1U << (sector & 3);
}

void TouchedLines::add(const TouchedLines& others) {
    for (const TouchedLine& other : others) find_or_append(other.line).sectors |= other.sectors;
}

void TouchedLines::add_lanes(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes,
                             std::int64_t bytes) {
    for_each_lane(lanes, [&](int lane) { add(addresses[lane], bytes); });
}

TouchedLine& TouchedLines::find_or_append(std::uint64_t line) {
    if (size_ > 0 && line <= highest_) {
        for (int place = size_ - 1; place >= 0; --place)
            if (lines_[place].line == line) return lines_[place];
    } else {
        highest_ = line;
    }
    lines_[size_] = {line, 0};
    return lines_[size_++];
}

void TouchedLines::sort() {
    // Insertion sort: nearly always in order already.
    for (int end = 1; end < size_; ++end) {
        const TouchedLine moved = lines_[end];
        int place = end;
        for (; place > 0 && lines_[place - 1].line > moved.line; --place) lines_[place] = lines_[place - 1];
        lines_[place] = moved;
    }
}

int TouchedLines::sectors() const {
    int total = 0;
    for (const TouchedLine& found : *this) total += std::popcount(found.sectors);
    return total;
}

int TouchedLines::tag_passes() const {
    std::array<int, kTagBanks> lines_of_bank{};
    for (const TouchedLine& found : *this) ++lines_of_bank[found.line % kTagBanks];
    return *std::max_element(lines_of_bank.begin(), lines_of_bank.end());
}

}  // namespace warpwatt::emulate
