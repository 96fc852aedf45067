#include "sm/instruction_cache.h"

#include <algorithm>

namespace warpwatt::sm {

L1InstructionCache::L1InstructionCache(std::int32_t lines, const Settings& settings)
    : resident_(lines, settings.l1i_lines),
      arrival_(lines, -kNever),
      ahead_(settings.l1i_ahead),
      miss_cycles_(settings.l1i_miss_cycles) {}

Cycle L1InstructionCache::fetch(std::int32_t line, Cycle time) {
    const std::int32_t end = std::min(line + 1 + ahead_, resident_.lines());
    for (std::int32_t wanted = line; wanted < end; ++wanted) {
        if (!resident_.holds(wanted)) load(wanted, time);
    }
    return arrival_[line];
}

void L1InstructionCache::load(std::int32_t line, Cycle time) {
    resident_.load(line);
    arrival_[line] = time + miss_cycles_;
}

L0InstructionCache::L0InstructionCache(std::int32_t lines, const Settings& settings)
    : resident_(lines, settings.l0_lines), miss_cycles_(settings.l0_miss_cycles) {}

Cycle L0InstructionCache::miss(std::int32_t line, bool sequential, Cycle time, L1InstructionCache& l1) {
    resident_.load(line);
    const Cycle arrival = l1.fetch(line, time);
    return sequential ? arrival : std::max(arrival, time + miss_cycles_);
}

}  // namespace warpwatt::sm
