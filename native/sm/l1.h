// The L1 cache: which accesses miss, and the ports through which misses go to L2 and come back.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/bandwidth_server.h"
#include "sm/fractional_misses.h"
#include "sm/instruction.h"
#include "sm/l2.h"
#include "sm/settings.h"
#include "sm/trace.h"

namespace warpwatt::sm {

class L1 {
public:
    L1(std::int64_t instructions, const Settings& settings)
        : read_port_(settings.port_bytes),
          write_port_(settings.write_port_bytes),
          l2_(instructions, settings),
          lines_(instructions) {}

    // Returns when the data of an access at `time` arrives, 0 if it is there.
    double arrival(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access);

    // Returns when the queues at the way out, L2 and DRAM have shrunk to `backlog` cycles.
    double queues_shrink_to(double backlog) const;

    const L2& l2() const { return l2_; }
    double written_bytes() const { return write_port_.bytes(); }

private:
    double miss(const Instruction& instruction, std::int32_t pc, double time, const MemoryAccess& access,
                double sectors);

    // What an instruction's accesses find.
    struct Lines {
        FractionalMisses misses;
        double to_come = 0.0;       // accesses of this turn that are still to come
        bool asked = false;         // whether its first has missed
        double last_arrival = 0.0;  // of that miss
    };

    BandwidthServer read_port_, write_port_;
    L2 l2_;
    std::vector<Lines> lines_;  // by instruction
};

}  // namespace warpwatt::sm
