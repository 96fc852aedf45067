// The ready warps of a sub-core that were found to wait for units, in groups that need the same, so that a
// question about all of a group is asked once.
#pragma once

#include <array>
#include <cstdint>

#include "sm/cycle.h"
#include "sm/ready_queue.h"

namespace warpwatt::sm {

// When the units that an instruction needs can take it.
struct UnitsFree {
    Cycle time;
    bool register_banks;  // whether the register file is what it waits for
};

struct BlockedGroup {
    std::int32_t needs;
    UnitsFree units;
    Positions warps;
    Positions told;  // those of them whose stalls count until `units.time`
};

class BlockedGroups {
public:
    BlockedGroup* begin() { return groups_.data(); }
    BlockedGroup* end() { return groups_.data() + count_; }

    Positions warps() const { return warps_; }

    // Returns the group with some needs, or `end`.
    BlockedGroup* find(std::int32_t needs) {
        BlockedGroup* group = begin();
        while (group != end() && group->needs != needs) ++group;
        return group;
    }

    BlockedGroup* add(std::int32_t needs, const UnitsFree& units) {
        groups_[count_] = {needs, units, 0, 0};
        return &groups_[count_++];
    }

    void join(BlockedGroup& group, int position) {
        group.warps |= position_bit(position);
        warps_ |= position_bit(position);
    }

    // Removes a warp from its group, if it is in one.
    void remove(int position) {
        const Positions warp = position_bit(position);
        if ((warps_ & warp) == 0) return;
        BlockedGroup* group = begin();
        while ((group->warps & warp) == 0) ++group;
        warps_ &= ~warp;
        group->warps &= ~warp;
        group->told &= ~warp;
        if (group->warps == 0) *group = groups_[--count_];
    }

    void clear() {
        count_ = 0;
        warps_ = 0;
    }

private:
    std::array<BlockedGroup, ReadyQueue::kMostWarps> groups_;
    int count_ = 0;
    Positions warps_ = 0;  // of all groups
};

}  // namespace warpwatt::sm
