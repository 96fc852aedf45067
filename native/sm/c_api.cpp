#include "c_api.h"

#include "sm/sm.h"

namespace warpwatt::sm {
namespace {

// Whether the SM is no larger than the arrays of its units.
bool fits(const Settings& settings) {
    const int cores = settings.sub_cores, warps = settings.resident_blocks * settings.warps_per_block;
    return 0 < cores && cores <= WakeTimes::kMostSubCores && warps <= cores * ReadyQueue::kMostWarps &&
           0 < settings.queue_depth && settings.queue_depth <= MioQueue::kMostEntries;
}

}  // namespace
}  // namespace warpwatt::sm

// Simulates one SM; false if it is too large. `beginning`, unless null, gets what the first
// `beginning_blocks` of the line would be without the others: at least as many as are resident. Reads the
// inputs and writes the outputs only, so that many may run at once.
WARPWATT_API bool simulate_sm(const warpwatt::sm::Inputs* inputs, const warpwatt::sm::Outputs* outputs,
                              std::int64_t beginning_blocks, const warpwatt::sm::Outputs* beginning) {
    if (!warpwatt::sm::fits(*inputs->settings)) return false;
    warpwatt::sm::Sm sm(*inputs, *outputs);
    if (beginning) sm.end_also_after(beginning_blocks, *beginning);
    sm.run();
    return true;
}
