#include "emulate/touched_lines.h"

#include <algorithm>

namespace warpwatt::emulate {

void TouchedLines::add(std::uint64_t address, std::int64_t bytes) {
    constexpr int kSectorBits = kLineShift - kSectorShift;
    const std::uint64_t last = (address + bytes - 1) >> kSectorShift;
    for (std::uint64_t sector = address >> kSectorShift; sector <= last; ++sector)
        touch(sector >> kSectorBits, 1U << (sector & ((1 << kSectorBits) - 1)));
}

void TouchedLines::add(const TouchedLines& others) {
    for (const TouchedLine& other : others) touch(other.line, other.sectors);
}

void TouchedLines::add_lanes(const std::array<std::uint64_t, kLanes>& addresses, LaneMask lanes,
                             std::int64_t bytes) {
    for_each_lane(lanes, [&](int lane) { add(addresses[lane], bytes); });
}

// Lines nearly always come in ascending order: the place is looked for from the end.
void TouchedLines::touch(std::uint64_t line, std::uint32_t sectors) {
    int place = size_;
    while (place > 0 && lines_[place - 1].line > line) --place;
    if (place > 0 && lines_[place - 1].line == line) {
        lines_[place - 1].sectors |= sectors;
        return;
    }
    std::copy_backward(lines_.begin() + place, lines_.begin() + size_, lines_.begin() + size_ + 1);
    lines_[place] = {line, sectors};
    ++size_;
}

int TouchedLines::sectors() const {
    int total = 0;
    for (const TouchedLine& found : *this) total += std::popcount(found.sectors);
    return total;
}

int TouchedLines::tag_passes() const {
    std::array<int, kTagBanks> lines_of_bank{};
    for (const TouchedLine& found : *this) {
        std::uint64_t bits = found.line;
        for (int shift = 32; shift >= 2; shift /= 2) bits ^= bits >> shift;
        ++lines_of_bank[bits % kTagBanks];
    }
    return *std::max_element(lines_of_bank.begin(), lines_of_bank.end());
}

}  // namespace warpwatt::emulate
