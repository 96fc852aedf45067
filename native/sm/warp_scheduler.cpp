#include "sm/warp_scheduler.h"

#include <algorithm>

namespace warpwatt::sm {

void WarpScheduler::add(const QueueEntry& entry) {
    queue_.push_back(entry);
    moved(queue_.size() - 1);
}

void WarpScheduler::remove(int warp) {
    if (last_ == warp) last_ = kNoWarp;
    const std::int16_t position = position_[warp];
    queue_.erase(queue_.begin() + position);
    moved(position);
}

void WarpScheduler::rotate_oldest_block() {
    if (queue_.empty()) return;
    const std::int16_t oldest = queue_.front().block_slot;
    const auto next = std::find_if(queue_.begin(), queue_.end(),
                                   [=](const QueueEntry& entry) { return entry.block_slot != oldest; });
    std::rotate(queue_.begin(), next, queue_.end());
    moved(0);
}

// Notes where entries are, from the first one that has another place.
void WarpScheduler::moved(std::size_t first) {
    for (std::size_t i = first; i < queue_.size(); ++i) {
        position_[queue_[i].warp] = static_cast<std::int16_t>(i);
    }
}

}  // namespace warpwatt::sm
