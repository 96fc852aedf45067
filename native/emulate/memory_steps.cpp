// Steps of memory and calls: arguments to the machine, a function of the run time, results from there.

#include <cstring>

#include "emulate/run_time.h"
#include "emulate/step_table.h"

namespace warpwatt::emulate {

namespace {

using Words = std::array<std::uint64_t, kLanes>;

template <typename T>
void write_wide(Words& to, const Frame& frame, const Step& step) {
    const T* a = lanes_at<T>(frame, step.a);
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = a[lane];
}

template <typename T>
WARPWATT_WIDE_VECTORS void address(const Frame& frame, const Step& step) {
    write_wide<T>(frame.machine.addresses, frame, step);
}

template <typename T>
WARPWATT_WIDE_VECTORS void argument(const Frame& frame, const Step& step) {
    write_wide<T>(frame.machine.values[step.number], frame, step);
}

WARPWATT_WIDE_VECTORS void argument_mask(const Frame& frame, const Step& step) {
    const LaneMask mask = mask_at(frame, step.a);
    Words& to = frame.machine.values[step.number];
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = mask >> lane & 1;
}

template <typename T>
void read_narrow(const Words& from, const Frame& frame, const Step& step) {
    T* __restrict result = lanes_at<T>(frame, step.result);
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = static_cast<T>(from[lane]);
}

template <typename T>
WARPWATT_WIDE_VECTORS void result(const Frame& frame, const Step& step) {
    read_narrow<T>(frame.machine.values[step.number], frame, step);
}

WARPWATT_WIDE_VECTORS void result_mask(const Frame& frame, const Step& step) {
    const Words& from = frame.machine.values[step.number];
    LaneMask made = 0;
    for (int lane = 0; lane < kLanes; ++lane) made |= static_cast<LaneMask>(from[lane] & 1) << lane;
    mask_at(frame, step.result) = made;
}

template <typename T>
WARPWATT_WIDE_VECTORS void old_value(const Frame& frame, const Step& step) {
    read_narrow<T>(frame.machine.old_values, frame, step);
}

// `number` is where an element's lanes lie among the values.
template <typename T>
void store_element(const Frame& frame, const Step& step) {
    std::memcpy(frame.machine.value_bytes() + step.number, lanes_at<T>(frame, step.a), kLanes * sizeof(T));
}

template <typename T>
void loaded(const Frame& frame, const Step& step) {
    std::memcpy(lanes_at<T>(frame, step.result), frame.machine.value_bytes() + step.number,
                kLanes * sizeof(T));
}

template <typename T>
WARPWATT_WIDE_VECTORS void loaded_for_all(const Frame& frame, const Step& step) {
    T value;
    std::memcpy(&value, frame.machine.value_bytes() + step.number, sizeof value);
    fill(frame, step.result, value);
}

// From a constant bank; `number` is the bank and, in the low half, the address.
template <typename T>
WARPWATT_WIDE_VECTORS void constant(const Frame& frame, const Step& step) {
    T value;
    std::memcpy(&value, frame.machine.constant.bases[step.number >> 32] + (step.number & 0xFFFFFFFF),
                sizeof value);
    fill(frame, step.result, value);
}

template <void (*function)(Machine*, Warp*, std::int32_t, LaneMask)>
void call_memory(const Frame& frame, const Step& step) {
    function(&frame.machine, &frame.warp, static_cast<std::int32_t>(step.number), chosen(frame, step.c));
}

template <typename T>
void call_uniform_load(const Frame& frame, const Step& step) {
    load_uniform(&frame.machine, &frame.warp, static_cast<std::int32_t>(step.number), chosen(frame, step.c),
                 first_of<T>(frame, step.a));
}

void call_python(const Frame& frame, const Step& step) {
    frame.machine.caller = &frame.warp;
    call_function(&frame.machine, static_cast<std::int32_t>(step.number), chosen(frame, step.c));
}

void barrier_results(const Frame& frame, const Step& step) {
    read_barrier_results(&frame.machine, &frame.warp, static_cast<std::int32_t>(step.number));
}

}  // namespace

void add_memory_steps(StepTable& table) {
    table.add_wide("address", []<typename T>() { return address<T>; });
    table.add_wide("argument", []<typename T>() { return argument<T>; });
    table.add<argument_mask>("argument 1");
    table.add_wide("result", []<typename T>() { return result<T>; });
    table.add<result_mask>("result 1");
    table.add_wide("old value", []<typename T>() { return old_value<T>; });
    table.add_wide("store element", []<typename T>() { return store_element<T>; });
    table.add_wide("loaded", []<typename T>() { return loaded<T>; });
    table.add_wide("loaded for all", []<typename T>() { return loaded_for_all<T>; });
    table.add_wide("constant", []<typename T>() { return constant<T>; });
    table.add<call_memory<load_lanes>>("load");
    table.add<call_memory<store_lanes>>("store");
    table.add<call_memory<atomic_lanes>>("atomic");
    table.add<call_memory<bulk_copy>>("bulk");
    table.add_wide("uniform load", []<typename T>() { return call_uniform_load<T>; });
    table.add<call_python>("call");
    table.add<barrier_results>("barrier results");
}

}  // namespace warpwatt::emulate
