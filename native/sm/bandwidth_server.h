// A server with a rate: what comes while it is busy waits, first come first served.
#pragma once

#include <algorithm>

namespace warpwatt::sm {

class BandwidthServer {
public:
    explicit BandwidthServer(double bytes_per_cycle) : rate_(bytes_per_cycle) {}

    // Serves `bytes` that come at `time`; returns when it begins: max(time, free).
    double serve(double time, double bytes) {
        const double begun = std::max(time, free_);
        free_ = begun + bytes / rate_;
        bytes_ += bytes;
        return begun;
    }

    double transfer_cycles(double bytes) const { return bytes / rate_; }
    double free() const { return free_; }
    double bytes() const { return bytes_; }

private:
    double rate_;
    double free_ = 0.0;
    double bytes_ = 0.0;  // served so far
};

}  // namespace warpwatt::sm
