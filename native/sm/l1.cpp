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
    return std::max({l2_.bandwidth().free(), l2_.dram().free(), write_port_.free()}) - backlog;
}

// Moves what misses through the port and L2; returns when the data is back, 0 if all hit. What is written
// leaves as packets of a sector, and before them one with the address for each line; L2 serves reads while
// they wait for the port.
double L1::miss(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access) {
    const double sectors = lines_[pc].misses.next(instruction.l1_miss_rate, access.sectors, access.lines);
    if (sectors <= 0.0) return 0.0;
    const double lines = access.lines * sectors / access.sectors;
    const double bytes = kSectorBytes * sectors, transfer = read_port_.transfer_cycles(bytes);
    if (instruction.traffic != Traffic::write)
        return l2_.access(instruction, pc, read_port_.serve(time, bytes), sectors, lines, transfer);
    const double sent = write_port_.serve(time, bytes + kSectorBytes * lines);
    return std::max(sent + instruction.l2_latency,
                    l2_.access(instruction, pc, time, sectors, lines, transfer));
}

}  // namespace warpwatt::sm
