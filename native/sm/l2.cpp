#include "sm/l2.h"

#include <algorithm>

namespace warpwatt::sm {

double L2::access(const Instruction& instruction, std::int32_t pc, double time, double sectors, double lines,
                  double transfer) {
    const double start = bandwidth_.serve(time, kSectorBytes * sectors);
    const double hit = start + instruction.l2_latency + transfer;
    const double missing = misses_[pc].next(instruction.l2_miss_rate, sectors, std::max(1.0, lines));
    if (missing <= 0.0) return hit;
    const double bytes = kSectorBytes * missing * instruction.dram_slowdown;
    return std::max(hit, dram_.read(start, bytes, instruction.dram_latency));
}

}  // namespace warpwatt::sm
