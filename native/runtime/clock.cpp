// Programs that take the time around their kernels find what is predicted: the C library's clocks, in front
// of it.
#include "runtime/clock.h"

#include <dlfcn.h>
#include <sys/time.h>

#include "runtime/abi.h"
#include "runtime/client.h"

namespace warpwatt::runtime {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Clocks that go on while a thread waits. Those of the processor's time do not.
bool tells_the_time(clockid_t clock) {
    switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_BOOTTIME:
            return true;
        default:
            return false;
    }
}

void add(timespec* time, std::int64_t ns) {
    std::int64_t sum = time->tv_sec * kSecond + time->tv_nsec + ns;
    *time = {sum / kSecond, sum % kSecond};
}

}  // namespace

int real_clock_gettime(clockid_t clock, timespec* time) {
    using Call = int (*)(clockid_t, timespec*);
    static const auto call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "clock_gettime"));
    return call(clock, time);
}

std::int64_t HostClock::real_ns() {
    timespec time;
    real_clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace warpwatt::runtime

using namespace warpwatt::runtime;

RUNTIME_API int clock_gettime(clockid_t clock, timespec* time) noexcept {
    int status = real_clock_gettime(clock, time);
    if (status == 0 && tells_the_time(clock)) add(time, host_clock().offset_ns());
    return status;
}

RUNTIME_API int gettimeofday(timeval* time, void*) noexcept {
    timespec found;
    if (clock_gettime(CLOCK_REALTIME, &found)) return -1;
    *time = {found.tv_sec, found.tv_nsec / 1000};
    return 0;
}

// A thread that waits for the device spins, so that waiting is the processor's time too.
RUNTIME_API clock_t clock() noexcept {
    timespec time;
    if (real_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)) return -1;
    add(&time, host_clock().waited_ns());
    return time.tv_sec * CLOCKS_PER_SEC + time.tv_nsec / (kSecond / CLOCKS_PER_SEC);
}
