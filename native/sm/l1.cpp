#include "sm/l1.h"

#include <algorithm>
#include <cmath>

namespace warpwatt::sm {

inline constexpr double kPacketBytes = 64.0;

// Warps that share a line ask for it in turn: the first of a turn misses, if any does, and the others wait
// for what it has asked for, so many for each miss as meet a line in flight. Whoever finds that this has
// arrived long since is the first of the next turn.
double L1::arrival(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access) {
    const double rate = instruction.l1_miss_rate;
    Lines& lines = lines_[pc];
    if (instruction.in_flight_rate <= 0.0)
        return miss(instruction, pc, time, access, lines.misses.next(rate, access.sectors, access.lines));
    if (lines.to_come >= 1.0 && !(lines.asked && lines.last_arrival <= time)) {
        lines.to_come -= 1.0;
        lines.misses.pass(rate, access.lines);
        return lines.asked ? lines.last_arrival : 0.0;
    }
    const double hits = lines.misses.hits_per_miss(rate, access.lines);
    const double waiting = instruction.in_flight_rate * hits;
    const double turn =
        1.0 + (lines.last_arrival == 0.0 ? hits : waiting);  // nobody has asked for anything yet
    const double missing = lines.misses.next(rate, access.sectors, access.lines, turn);
    lines.to_come += waiting - std::floor(lines.to_come);
    lines.asked = missing > 0.0;
    if (!lines.asked) return 0.0;
    lines.last_arrival = miss(instruction, pc, time, access, missing);
    return lines.last_arrival;
}

double L1::queues_shrink_to(double backlog) const {
    return std::max({l2_.bandwidth().free(), l2_.dram().free(), write_port_.free()}) - backlog;
}

// Moves the sectors that miss through the port and L2; returns when the data is back, 0 if all hit. What is
// written leaves in packets of two sectors, and for each line one with the address before them; L2 serves
// reads while they wait for the port.
double L1::miss(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access,
                double sectors) {
    if (sectors <= 0.0) return 0.0;
    const double lines = access.lines * sectors / access.sectors;
    const double bytes = kSectorBytes * sectors, transfer = read_port_.transfer_cycles(bytes);
    if (instruction.traffic != Traffic::write)
        return l2_.access(instruction, pc, read_port_.serve(time, bytes), sectors, lines, transfer);
    const double addresses = kPacketBytes * lines;
    const double sent = write_port_.serve(time, addresses + std::max(addresses, bytes));
    return std::max(sent + instruction.l2_latency,
                    l2_.access(instruction, pc, time, sectors, lines, transfer));
}

}  // namespace warpwatt::sm
