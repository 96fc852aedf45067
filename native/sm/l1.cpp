#include "sm/l1.h"

#include <algorithm>

namespace warpwatt::sm {

// Some hits wait for what another warp has missed: for the last miss of the same instruction, since warps
// that share a line ask for it in turn. Where that has arrived, this access is the first of its turn: it
// misses, and a later one hits in its place.
double L1::arrival(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access) {
    Lines& lines = lines_[pc];
    const FractionalMisses before = lines.misses;
    double found = miss(instruction, pc, time, access);
    if (found == 0.0) {
        lines.hits_in_flight += instruction.in_flight_rate;
        if (lines.hits_in_flight < 1.0) return 0.0;
        lines.hits_in_flight -= 1.0;
        const bool on_its_way = lines.last_arrival > time;
        if (on_its_way || !before.may_borrow()) return lines.last_arrival;
        lines.misses = before;
        lines.misses.borrow();
        found = miss(instruction, pc, time, access);
        lines.misses.repay();
    }
    lines.last_arrival = found;
    return found;
}

double L1::queues_shrink_to(double backlog) const {
    return std::max(l2_.bandwidth().free() - backlog, l2_.dram().free() - backlog);
}

// Moves what misses through the port and L2; returns when the data is back, 0 if all hit.
double L1::miss(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access) {
    const double sectors = lines_[pc].misses.next(instruction.l1_miss_rate, access.sectors, access.lines);
    if (sectors <= 0.0) return 0.0;
    BandwidthServer& port = instruction.traffic == Traffic::write ? write_port_ : read_port_;
    const double bytes = kSectorBytes * sectors;
    const double sent = port.serve(time, bytes);
    const double lines = access.lines * sectors / access.sectors;
    return l2_.access(instruction, pc, sent, sectors, lines, port.transfer_cycles(bytes));
}

}  // namespace warpwatt::sm
