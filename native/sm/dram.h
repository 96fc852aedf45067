// DRAM as one SM sees it: its share of the bandwidth, and a latency that grows with the load.
#pragma once

#include "sm/settings.h"

namespace warpwatt::sm {

class Dram {
public:
    static constexpr double kHighestLoad = 0.95;  // where queueing is cut off, since q·ρ/(1-ρ) has no bound

    explicit Dram(const Settings& settings) : settings_(settings) {}

    // Reads `bytes` for a request that comes at `time`; returns when they are back in L1. `latency`:
    // unloaded.
    double read(double time, double bytes, double latency);

    // When all that has come is served.
    double free() const { return free_; }
    double bytes() const { return bytes_; }

private:
    double begin(double time, double service);
    double queueing(double start, double service);

    const Settings& settings_;
    double free_ = 0.0;
    double load_ = 0.0;  // recent share of the bandwidth, ρ
    double load_at_ = 0.0;
    double bytes_ = 0.0;
};

}  // namespace warpwatt::sm
