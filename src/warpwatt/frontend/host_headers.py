"""Stand-ins for host headers under NVRTC: most are empty, a few hold the constants device code uses.

Values are those of the C standard's limits for NVIDIA's 64-bit data model (CUDA C++ Programming Guide,
"Built-in types"; ISO C, 5.2.4.2).
"""

from __future__ import annotations

_LIMITS = """#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
"""

_FLOAT = """#pragma once
#define FLT_MANT_DIG 24
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MANT_DIG 53
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
"""

_MATH = """#pragma once
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#endif
"""

_INTEGERS = """#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef uint32_t uint;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define INT64_MAX 9223372036854775807l
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ul
"""

_ASSERT = """#pragma once
#ifndef assert
#define assert(condition) ((condition) ? (void)0 : __trap())
#endif
"""

_EMPTY = """
algorithm any array atomic bitset cctype cerrno chrono cinttypes clocale complex condition_variable
csignal cstdarg cstddef cstdio cstdlib cstring ctime ctype.h cuda_profiler_api.h deque errno.h exception
fcntl.h filesystem forward_list fstream functional future getopt.h initializer_list inttypes.h iomanip
ios iosfwd iostream istream iterator limits list locale locale.h map memory memory.h mutex new numeric
omp.h optional ostream pthread.h queue random ratio regex semaphore.h set shared_mutex signal.h sstream
stack stdarg.h stdbool.h stddef.h stdexcept stdio.h stdlib.h streambuf string string.h string_view
strings.h sys/mman.h sys/resource.h sys/stat.h sys/time.h sys/types.h sys/wait.h system_error thread
time.h tuple type_traits typeindex typeinfo unistd.h unordered_map unordered_set utility valarray
variant vector wchar.h
"""

HOST_HEADERS: dict[str, str] = {
    **dict.fromkeys(_EMPTY.split(), "#pragma once\n"),
    **dict.fromkeys(("limits.h", "climits"), _LIMITS),
    **dict.fromkeys(("float.h", "cfloat"), _FLOAT),
    **dict.fromkeys(("math.h", "cmath"), _MATH),
    **dict.fromkeys(("stdint.h", "cstdint"), _INTEGERS),
    **dict.fromkeys(("assert.h", "cassert"), _ASSERT),
}
"""Text of every header that NVRTC gets from us instead of from the system."""
