// Steps that choose by lane, and those in which lanes see each other.

#include <cstring>

#include "emulate/run_time.h"
#include "emulate/step_table.h"

namespace warpwatt::emulate {

namespace {

template <typename T>
WARPWATT_WIDE_VECTORS void select(const Frame& frame, const Step& step) {
    const LaneMask yes = mask_at(frame, step.a);
    const T *b = lanes_at<T>(frame, step.b), *c = lanes_at<T>(frame, step.c);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = yes >> lane & 1 ? b[lane] : c[lane];
}

void select_mask(const Frame& frame, const Step& step) {
    const LaneMask yes = mask_at(frame, step.a);
    mask_at(frame, step.result) = (yes & mask_at(frame, step.b)) | (~yes & mask_at(frame, step.c));
}

WARPWATT_WIDE_VECTORS void active(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.active);
}

WARPWATT_WIDE_VECTORS void ballot(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.active & mask_at(frame, step.a));
}

template <typename T>
WARPWATT_WIDE_VECTORS void shuffle(const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    const auto* lanes = lanes_at<std::uint32_t>(frame, step.b);
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = a[lanes[lane] & 31];
}

WARPWATT_WIDE_VECTORS void shuffle_mask(const Frame& frame, const Step& step) {
    const LaneMask a = mask_at(frame, step.a);
    const auto* lanes = lanes_at<std::uint32_t>(frame, step.b);
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= (a >> (lanes[lane] & 31) & 1) << lane;
    mask_at(frame, step.result) = made;
}

// Of the machine's addresses.
void match(const Frame& frame, const Step& step) {
    match_lanes(&frame.machine, frame.active);
    std::memcpy(lanes_at<LaneMask>(frame, step.result), frame.machine.value_bytes(),
                sizeof(LaneMask) * kLanes);
}

// Lanes whose guard is off, of the guard with that number.
void count(const Frame& frame, const Step& step) {
    frame.machine.totals.guarded[step.number] += lane_count(frame.active & ~mask_at(frame, step.a));
}

}  // namespace

void add_lane_steps(StepTable& table) {
    table.add_wide("select", []<typename T>() { return select<T>; });
    table.add<select_mask>("select 1");
    table.add<active>("active");
    table.add<ballot>("ballot");
    table.add_wide("shuffle", []<typename T>() { return shuffle<T>; });
    table.add<shuffle_mask>("shuffle 1");
    table.add<match>("match");
    table.add<count>("count");
}

}  // namespace warpwatt::emulate
