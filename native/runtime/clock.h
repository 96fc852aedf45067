// The host's time as it would be on the machine that is predicted: it stands still while the runtime works or
// waits for the device, and goes on by as long as the device says that the real call takes.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace warpwatt::runtime {

class HostClock {
public:
    // Time on CLOCK_MONOTONIC, in ns.
    std::int64_t now_ns() const {
        std::int64_t stopped = stopped_at_.load();
        return (stopped ? stopped : real_ns()) + offset_ns_.load();
    }
    // What other clocks that tell the time differ from their real ones.
    std::int64_t offset_ns() const {
        std::int64_t stopped = stopped_at_.load();
        return offset_ns_.load() - (stopped ? real_ns() - stopped : 0);
    }
    std::int64_t waited_ns() const { return waited_ns_.load(); }

    void stop() { stopped_at_ = real_ns(); }
    void go_on() {
        offset_ns_ -= real_ns() - stopped_at_.load();
        stopped_at_ = 0;
    }
    void advance(std::int64_t ns) {
        offset_ns_ += ns;
        waited_ns_ += ns;
    }

    static std::int64_t real_ns();

private:
    std::atomic<std::int64_t> offset_ns_{0}, stopped_at_{0}, waited_ns_{0};
};

// The C library's own, not that which this library puts in front of it.
int real_clock_gettime(clockid_t clock, timespec* time);

}  // namespace warpwatt::runtime
