#include "runtime/clock.h"

#include <dlfcn.h>

#include "runtime/client.h"

namespace warpwatt::runtime {

// The C library's own, not the one that stands in front of it.
int real_clock_gettime(clockid_t clock, timespec* time) {
    using Call = int (*)(clockid_t, timespec*);
    static const auto call =
        reinterpret_cast<Call>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "clock_gettime"));
    return call(clock, time);
}

std::int64_t HostClock::real_ns() {
    constexpr std::int64_t kSecond = 1'000'000'000;
    timespec time;
    real_clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace warpwatt::runtime

using namespace warpwatt::runtime;

// For the clocks that programs call (shims/clocks.cpp).
RUNTIME_API int warpwatt_real_clock(clockid_t clock, timespec* time) {
    return real_clock_gettime(clock, time);
}
RUNTIME_API std::int64_t warpwatt_clock_offset_ns() { return host_clock().offset_ns(); }
RUNTIME_API std::int64_t warpwatt_waited_ns() { return host_clock().waited_ns(); }
