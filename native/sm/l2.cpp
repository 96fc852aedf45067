#include "sm/l2.h"

#include <algorithm>

namespace warpwatt::sm {

double L2::access(const Instruction& instruction, std::int32_t pc, double time, double sectors, double lines,
                  double transfer) {
    const double start = bandwidth_.serve(time, moved(instruction, sectors, lines));
    const double hit = start + instruction.l2_latency + transfer;
    const double missing =
        misses_[pc].next(instruction.l2_miss_rate, sectors, runs(instruction, sectors, lines));
    if (missing <= 0.0) return hit;
    const double bytes = kSectorBytes * missing * instruction.dram_slowdown;
    return std::max(hit, dram_.read(start, bytes, instruction.dram_latency));
}

// Returns how many parts of an access miss independently: lines side by side were brought, and are driven
// out, together.
double L2::runs(const Instruction& instruction, double sectors, double lines) {
    const double apart = kSectorBytes * sectors / instruction.l2_run_bytes;
    return std::max(1.0, std::min(lines, apart));
}

// Returns the bytes that L2 could move in the time it takes: a whole slot for each line of which it moves
// less, and once more for sectors that it reads to merge them with what is written.
double L2::moved(const Instruction& instruction, double sectors, double lines) const {
    return std::max(kSectorBytes * sectors, slot_bytes_ * lines) +
           instruction.l2_merging * kSectorBytes * sectors;
}

}  // namespace warpwatt::sm
