// The warps of a sub-core, oldest first, with what choosing one needs to know of them. Sets of warps are bits
// by position in the queue, the oldest lowest.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sm/cycle.h"
#include "sm/timing_wheel.h"

namespace warpwatt::sm {

using Positions = std::uint64_t;

inline Positions position_bit(int position) { return Positions{1} << position; }

struct QueueEntry {
    Cycle ready;          // when it waits for its units only; never, for one at a barrier
    Cycle waiting_since;  // behind its last issue, its start or its barrier
    std::int32_t needs;   // of its next instruction: number of the IssueNeeds
    std::int16_t warp;
    std::int16_t block_slot;
};

class ReadyQueue {
public:
    static constexpr int kMostWarps = 64;

    ReadyQueue(int warps, int block_slots) : position_(warps), of_block_(block_slots) {}

    const QueueEntry& operator[](int position) const { return entries_[position]; }
    int position_of(int warp) const { return position_[warp]; }
    int size() const { return std::popcount(all_); }

    Positions ready() const { return ready_; }
    Positions of_block(int slot) const { return of_block_[slot]; }

    // Adds a warp as the youngest. Warps of a block come one after the other.
    void add(const QueueEntry& entry) {
        if (end_ == kMostWarps) rebuild(0);
        const int position = end_++;
        entries_[position] = entry;
        position_[entry.warp] = static_cast<std::int16_t>(position);
        all_ |= position_bit(position);
        of_block_[entry.block_slot] |= position_bit(position);
        wait(position, entry.ready);
    }

    // Tells of a warp that was ready or at a barrier what it does next.
    void update(int position, Cycle ready, Cycle waiting_since, std::int32_t needs) {
        QueueEntry& entry = entries_[position];
        entry.ready = ready;
        entry.waiting_since = waiting_since;
        entry.needs = needs;
        ready_ &= ~position_bit(position);
        wait(position, ready);
    }

    // Removes a warp; its position stays empty until the queue is put together again.
    void remove(int position) {
        all_ &= ~position_bit(position);
        ready_ &= ~position_bit(position);
        of_block_[entries_[position].block_slot] &= ~position_bit(position);
    }

    // Goes on to a cycle that is not behind `next_ready`.
    void advance(Cycle now) { ready_ |= wheel_.advance(now) & all_; }

    // Returns when the next of those that are not ready will be.
    Cycle next_ready() const { return wheel_.next(); }

    // Lets the oldest block be the youngest, as if it had made room for another one.
    void rotate_oldest_block() {
        if (all_ == 0) return;
        rebuild(std::popcount(of_block_[entries_[std::countr_zero(all_)].block_slot]));
    }

private:
    void wait(int position, Cycle ready) {
        if (ready <= wheel_.now()) {
            ready_ |= position_bit(position);
        } else if (ready != kNever) {
            wheel_.add(position, ready);
        }
    }

    // Puts all warps into an empty queue again, the `rotated` oldest ones behind the others.
    void rebuild(int rotated) {
        std::vector<QueueEntry> warps;
        for (Positions left = all_; left != 0; left &= left - 1)
            warps.push_back(entries_[std::countr_zero(left)]);
        std::rotate(warps.begin(), warps.begin() + rotated, warps.end());
        end_ = 0;
        all_ = ready_ = 0;
        std::fill(of_block_.begin(), of_block_.end(), 0);
        wheel_.clear();
        for (const QueueEntry& warp : warps) add(warp);
    }

    int end_ = 0;  // behind the youngest
    Positions all_ = 0;
    Positions ready_ = 0;
    TimingWheel wheel_;  // those that are not ready
    std::array<QueueEntry, kMostWarps> entries_{};
    std::vector<std::int16_t> position_;  // by warp
    std::vector<Positions> of_block_;     // by block slot
};

}  // namespace warpwatt::sm
