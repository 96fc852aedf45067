// Steps that read and write the warp's record: registers, which lie at `number` in it, and special values.

#include <cstring>

#include "emulate/step_table.h"

namespace warpwatt::emulate {

namespace {

template <typename T>
T* register_of(const Frame& frame, const Step& step) {
    return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(&frame.warp) + step.number);
}

template <typename T>
void get(const Frame& frame, const Step& step) {
    std::memcpy(lanes_at<T>(frame, step.result), register_of<T>(frame, step), kLanes * sizeof(T));
}

void get_mask(const Frame& frame, const Step& step) {
    mask_at(frame, step.result) = *register_of<LaneMask>(frame, step);
}

template <typename T>
WARPWATT_WIDE_VECTORS void get_uniform(const Frame& frame, const Step& step) {
    fill(frame, step.result, *register_of<T>(frame, step));
}

void get_uniform_mask(const Frame& frame, const Step& step) {
    mask_at(frame, step.result) = *register_of<std::uint8_t>(frame, step) & 1 ? kAllLanes : 0;
}

template <typename T>
WARPWATT_WIDE_VECTORS void set(const Frame& frame, const Step& step) {
    const LaneMask on = chosen(frame, step.c);
    const T* value = lanes_at<T>(frame, step.a);
    T* __restrict held = register_of<T>(frame, step);
    if (on == kAllLanes) {
        std::memcpy(held, value, kLanes * sizeof(T));
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) held[lane] = on >> lane & 1 ? value[lane] : held[lane];
}

void set_mask(const Frame& frame, const Step& step) {
    const LaneMask on = chosen(frame, step.c);
    LaneMask& held = *register_of<LaneMask>(frame, step);
    held ^= (held ^ mask_at(frame, step.a)) & on;
}

template <typename T>
void set_uniform(const Frame& frame, const Step& step) {
    if (chosen(frame, step.c)) *register_of<T>(frame, step) = first_of<T>(frame, step.a);
}

void set_uniform_mask(const Frame& frame, const Step& step) {
    if (chosen(frame, step.c))
        *register_of<std::uint8_t>(frame, step) = has_lane(mask_at(frame, step.a), first_lane(frame.active));
}

void thread_index(const Frame& frame, const Step& step) {
    std::memcpy(lanes_at<std::int32_t>(frame, step.result), frame.warp.tid[step.number].data(),
                sizeof frame.warp.tid[0]);
}

// `number` is where the value lies among the special registers.
WARPWATT_WIDE_VECTORS void special(const Frame& frame, const Step& step) {
    std::int32_t value;
    std::memcpy(&value, reinterpret_cast<const unsigned char*>(&frame.warp.special) + step.number,
                sizeof value);
    fill(frame, step.result, value);
}

// Instructions before the basic block, whose length is `number`, of the warp or of all.
void clock(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.warp.clock - frame.warp.turn - step.number);
}

void clock_of_all(const Frame& frame, const Step& step) {
    fill(frame, step.result, frame.machine.clock - frame.warp.turn - step.number);
}

}  // namespace

void add_register_steps(StepTable& table) {
    table.add_wide("get", []<typename T>() { return get<T>; });
    table.add<get_mask>("get 1");
    table.add_wide("get uniform", []<typename T>() { return get_uniform<T>; });
    table.add<get_uniform_mask>("get uniform 1");
    table.add_wide("set", []<typename T>() { return set<T>; });
    table.add<set_mask>("set 1");
    table.add_wide("set uniform", []<typename T>() { return set_uniform<T>; });
    table.add<set_uniform_mask>("set uniform 1");
    table.add<thread_index>("tid");
    table.add<special>("special");
    table.add<clock>("clock");
    table.add<clock_of_all>("clock of all");
}

}  // namespace warpwatt::emulate
