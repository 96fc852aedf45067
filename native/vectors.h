// WARPWATT_WIDE_VECTORS in front of a function: it is compiled for AVX2 and AVX-512 too, and the processor
// chooses when the library is loaded. Its results are the same: nothing is contracted or reordered.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__)  // the choice is made before the sanitizer is ready
#define WARPWATT_WIDE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WARPWATT_WIDE_VECTORS
#endif
