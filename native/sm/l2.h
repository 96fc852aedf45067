// L2 as one SM sees it: its share of the bandwidth, behind it DRAM.
#pragma once

#include <cstdint>
#include <vector>

#include "sm/bandwidth_server.h"
#include "sm/dram.h"
#include "sm/fractional_misses.h"
#include "sm/instruction.h"
#include "sm/settings.h"

namespace warpwatt::sm {

inline constexpr double kSectorBytes = 32.0;

class L2 {
public:
    L2(std::int64_t instructions, const Settings& settings)
        : bandwidth_(settings.l2_bytes),
          slot_bytes_(settings.l2_slot_bytes),
          dram_(settings),
          misses_(instructions) {}

    // Serves `sectors` in `lines` of an instruction that come at `time`; returns when the data is back in L1,
    // which its port carries in `transfer` cycles.
    double access(const Instruction& instruction, std::int32_t pc, double time, double sectors, double lines,
                  double transfer);

    const BandwidthServer& bandwidth() const { return bandwidth_; }
    const Dram& dram() const { return dram_; }

private:
    static double runs(const Instruction& instruction, double sectors, double lines);
    double moved(const Instruction& instruction, double sectors, double lines) const;

    BandwidthServer bandwidth_;
    double slot_bytes_;
    Dram dram_;
    std::vector<FractionalMisses> misses_;  // by instruction
};

}  // namespace warpwatt::sm
