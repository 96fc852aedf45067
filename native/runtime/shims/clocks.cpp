// Programs that take the time around their kernels find what is predicted: the C library's clocks, in front
// of it. They stand in the library that a program is linked to, which is looked into before the C library.
#include <sys/time.h>
#include <time.h>

#include <cstdint>

#define SHIM extern "C" __attribute__((visibility("default")))

extern "C" {
int warpwatt_real_clock(clockid_t clock, timespec* time);
std::int64_t warpwatt_clock_offset_ns();
std::int64_t warpwatt_waited_ns();
}

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

SHIM int clock_gettime(clockid_t clock, timespec* time) noexcept {
    int status = warpwatt_real_clock(clock, time);
    if (status == 0 && tells_the_time(clock)) add(time, warpwatt_clock_offset_ns());
    return status;
}

SHIM int gettimeofday(timeval* time, void*) noexcept {
    timespec found;
    if (clock_gettime(CLOCK_REALTIME, &found)) return -1;
    *time = {found.tv_sec, found.tv_nsec / 1000};
    return 0;
}

// A thread that waits for the device spins, so that waiting is the processor's time too.
SHIM clock_t clock() noexcept {
    timespec time;
    if (warpwatt_real_clock(CLOCK_PROCESS_CPUTIME_ID, &time)) return -1;
    add(&time, warpwatt_waited_ns());
    return time.tv_sec * CLOCKS_PER_SEC + time.tv_nsec / (kSecond / CLOCKS_PER_SEC);
}
