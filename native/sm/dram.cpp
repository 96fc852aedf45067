#include "sm/dram.h"

#include <algorithm>
#include <cmath>

namespace warpwatt::sm {

double Dram::read(double time, double bytes, double latency) {
    const double service = bytes / settings_.dram_bytes;
    const double start = begin(time, service);
    bytes_ += bytes;
    return start + latency + queueing(start, service);
}

// Returns when DRAM takes a request. A burst of this SM of up to `burst_cycles` of its share passes at once,
// because the others are at other places; that holds from `burst_after_cycles` on, when the SMs have fallen
// out of step.
double Dram::begin(double time, double service) {
    free_ = std::max(time, free_) + service;
    const double burst = settings_.burst_cycles * std::min(1.0, time / settings_.burst_after_cycles);
    return std::max(time, free_ - service - burst);
}

// Returns linear·ρ + queue·ρ/(1-ρ), as a server with random arrivals has it (M/M/1). The load ρ is that of
// the recent past: ρ ← ρ·exp(-passed/window) + service/window.
double Dram::queueing(double start, double service) {
    const double window = settings_.load_window_cycles;
    const double passed = std::max(0.0, start - load_at_);
    load_ = load_ * std::exp(-passed / window) + service / window;
    load_at_ = start;
    const double load = std::min(load_, kHighestLoad);
    return settings_.load_linear_cycles * load + settings_.load_queue_cycles * load / (1.0 - load);
}

}  // namespace warpwatt::sm
