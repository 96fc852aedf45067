// Sums over the requests of one memory operation in one space; warpwatt.emulate.run.AccessCounts says what
// each field means.
#pragma once

#include <cstdint>

#include "emulate/lanes.h"

namespace warpwatt::emulate {

enum class StrideState : std::int64_t { kUnknown, kRegular, kIrregular };

inline constexpr std::int64_t kNoSlot = 0, kSeveralSlots = -1;

struct RequestCounters {
    std::int64_t requests;
    std::int64_t lanes;
    std::int64_t sectors;
    std::int64_t lines;
    std::int64_t l1_passes;
    std::int64_t wavefronts;
    std::int64_t ideal;
    std::int64_t collisions;
    std::int64_t uniform;
    std::int64_t constant_misses;
    std::int64_t constant_far_misses;
    std::int64_t stride;
    StrideState stride_state;
    std::int64_t slot;

    // Adds what all requests have: lanes on, bytes between neighbours (AddressPattern::stride) and slot.
    void add_request(LaneMask on, std::int64_t lane_stride, std::int64_t reached_slot);
    // Adds the sums of another operation of the same instruction.
    void add(const RequestCounters& other);
};

}  // namespace warpwatt::emulate
