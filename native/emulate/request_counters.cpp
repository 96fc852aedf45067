#include "emulate/request_counters.h"

#include <algorithm>

#include "emulate/address_pattern.h"

namespace warpwatt::emulate {

void RequestCounters::add_request(LaneMask on, std::int64_t lane_stride, std::int64_t reached_slot) {
    ++requests;
    lanes += lane_count(on);
    if (slot == kNoSlot)
        slot = reached_slot;
    else if (slot != reached_slot)
        slot = kSeveralSlots;
    if (lane_stride == kNoNeighbours) return;
    if (stride_state == StrideState::kUnknown && lane_stride != kVaries) {
        stride_state = StrideState::kRegular;
        stride = lane_stride;
    } else if (lane_stride == kVaries || stride != lane_stride) {
        stride_state = StrideState::kIrregular;
    }
}

void RequestCounters::add(const RequestCounters& other) {
    const bool strides_differ = stride_state == StrideState::kRegular &&
                                other.stride_state == StrideState::kRegular && stride != other.stride;
    if (stride_state != StrideState::kRegular) stride = other.stride;
    stride_state = strides_differ ? StrideState::kIrregular : std::max(stride_state, other.stride_state);
    if (slot != other.slot) slot = kSeveralSlots;
    requests += other.requests;
    lanes += other.lanes;
    sectors += other.sectors;
    lines += other.lines;
    l1_passes += other.l1_passes;
    wavefronts += other.wavefronts;
    ideal += other.ideal;
    collisions += other.collisions;
    uniform += other.uniform;
    constant_misses += other.constant_misses;
    constant_far_misses += other.constant_far_misses;
}

}  // namespace warpwatt::emulate
