// The scoreboards of a warp: dependence counters that the control code sets and waits for (Huerta et al.,
// MICRO 2025, "Control bits"). When they fall is known as soon as the instruction that sets them has issued.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sm/cycle.h"
#include "sm/instruction.h"

namespace warpwatt::sm {

// When a result is there, whose it is, and the name of the wait for it.
struct Release {
    Cycle time = 0;
    std::int32_t producer = -1;
    Stall stall = Stall::selected;
};

// The last releases of each scoreboard, for DEPBAR, which leaves some of them outstanding.
class ReleaseHistory {
public:
    void clear() { set_.fill(0); }

    void push(int board, const Release& release) { entry(board, set_[board]++) = release; }

    // Returns the release behind which `outstanding` ones are still to come; none if there were fewer, or so
    // many more that it is forgotten.
    const Release* before_last(int board, std::int64_t outstanding) {
        const std::int64_t index = set_[board] - 1 - outstanding;
        const bool kept = index >= 0 && index >= set_[board] - kDepth;
        return kept ? &entry(board, index) : nullptr;
    }

private:
    static constexpr std::int64_t kDepth = 16;

    Release& entry(int board, std::int64_t index) { return releases_[board * kDepth + index % kDepth]; }

    std::array<std::int64_t, kScoreboards + 1> set_{};  // how often each was set
    std::array<Release, (kScoreboards + 1) * kDepth> releases_{};
};

class Scoreboards {
public:
    // `history` is needed where an instruction of the kernel looks back.
    void reset(ReleaseHistory* history) {
        for (Release& board : boards_) board.time = 0;
        history_ = history;
        if (history_) history_->clear();
    }

    void keep_history_in(ReleaseHistory* history) { history_ = history; }

    // A scoreboard counts: it is zero when the last of what it was set for has come.
    void set(int board, Cycle time, std::int32_t producer, Stall stall) {
        if (board == kNoScoreboard) return;
        Release& latest = boards_[board];
        if (time > latest.time) latest = {time, producer, stall};
        if (history_) history_->push(board, latest);
    }

    // Returns the last release among those that an instruction waits for; time 0: it waits for none.
    Release awaited(const Instruction& instruction) const {
        Release latest;
        for (unsigned mask = instruction.wait_mask, board = 0; mask != 0; mask >>= 1, ++board) {
            if ((mask & 1) && boards_[board].time > latest.time) latest = boards_[board];
        }
        const Operation operation = instruction.operation;
        if (operation == Operation::depbar || operation == Operation::warpgroup_wait) {
            const Release* found = history_->before_last(instruction.scoreboard, instruction.outstanding);
            if (found && found->time > latest.time) latest = *found;
        }
        return latest;
    }

    const Release& board(int number) const { return boards_[number]; }

private:
    std::array<Release, kScoreboards + 1> boards_{};
    ReleaseHistory* history_ = nullptr;
};

}  // namespace warpwatt::sm
