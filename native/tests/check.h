// The unit tests' only tool: CHECK and CHECK_NEAR print what failed and where; `main` returns `failures()`.
#pragma once

#include <cmath>
#include <cstdio>

namespace warpwatt::test {

inline int& failures() {
    static int count = 0;
    return count;
}

inline void check(bool held, const char* text, const char* file, int line) {
    if (held) return;
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    ++failures();
}

inline void check_near(double found, double expected, double tolerance, const char* text, const char* file,
                       int line) {
    if (std::fabs(found - expected) <= tolerance) return;
    std::fprintf(stderr, "%s:%d: %s is %.17g, not %.17g\n", file, line, text, found, expected);
    ++failures();
}

}  // namespace warpwatt::test

#define CHECK(condition) warpwatt::test::check((condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(found, expected, tolerance) \
    warpwatt::test::check_near((found), (expected), (tolerance), #found, __FILE__, __LINE__)
