// The warps of a sub-core, oldest first, with what choosing one needs to know of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sm/cycle.h"

namespace warpwatt::sm {

struct QueueEntry {
    Cycle waiting_since;  // behind its last issue, its start or its barrier
    std::int32_t pc;
    std::int16_t warp;
    std::int16_t block_slot;
};

class ReadyQueue {
public:
    static constexpr int kMostWarps = 64;

    explicit ReadyQueue(int warps) : position_(warps) {}

    int size() const { return size_; }
    const QueueEntry& operator[](int position) const { return entries_[position]; }
    int position_of(int warp) const { return position_[warp]; }
    Cycle ready(int position) const { return ready_[position]; }

    // Adds a warp as the youngest. Warps of a block come one after the other.
    void add(const QueueEntry& entry, Cycle ready) {
        position_[entry.warp] = static_cast<std::int16_t>(size_);
        entries_[size_] = entry;
        ready_[size_++] = ready;
    }

    // `ready`: when a warp waits for its units only; never, for one at a barrier.
    void update(int warp, Cycle ready, Cycle waiting_since, std::int32_t pc) {
        const int position = position_[warp];
        ready_[position] = ready;
        entries_[position].waiting_since = waiting_since;
        entries_[position].pc = pc;
    }

    void remove(int warp) {
        const int position = position_[warp];
        std::move(entries_.begin() + position + 1, entries_.begin() + size_, entries_.begin() + position);
        std::move(ready_.begin() + position + 1, ready_.begin() + size_, ready_.begin() + position);
        --size_;
        renumber(position);
    }

    // Lets the oldest block be the youngest, as if it had made room for another one.
    void rotate_oldest_block() {
        int count = 0;
        while (count < size() && entries_[count].block_slot == entries_.front().block_slot) ++count;
        std::rotate(entries_.begin(), entries_.begin() + count, entries_.begin() + size_);
        std::rotate(ready_.begin(), ready_.begin() + count, ready_.begin() + size_);
        renumber(0);
    }

    // Returns a bit for each position that is ready, the oldest lowest. Without branches, which would often
    // be mispredicted.
    std::uint64_t ready_at(Cycle now) const {
        std::uint64_t found = 0;
        for (int i = 0; i < size(); ++i) found |= std::uint64_t{ready_[i] <= now} << i;
        return found;
    }

    // Returns when the next of those that are not ready will be.
    Cycle next_ready(Cycle now) const {
        Cycle next = kNever;
        for (int i = 0; i < size_; ++i) next = std::min(next, ready_[i] > now ? ready_[i] : kNever);
        return next;
    }

private:
    void renumber(int first) {
        for (int i = first; i < size(); ++i) position_[entries_[i].warp] = static_cast<std::int16_t>(i);
    }

    int size_ = 0;
    std::array<Cycle, kMostWarps> ready_;  // side by side for the scan of every cycle
    std::array<QueueEntry, kMostWarps> entries_;
    std::vector<std::int16_t> position_;  // by warp
};

}  // namespace warpwatt::sm
