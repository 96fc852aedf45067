// CUDA C++ for a CPU, enough to check the corpus: put before a .cu file with -include, unchanged.
// Blocks run one after another; the threads of a block are fibers of one operating-system thread (cpu/runtime.cpp).
#pragma once

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
// All threads of a block are one thread to the operating system, so its thread-local storage is the block's
// shared memory: static arrays and extern ones alike, and the runtime can find and poison all of it.
#define __shared__ thread_local

#include "cpu/vectors.hpp"
#include "cpu/threads.hpp"
#include "cpu/intrinsics.hpp"
#include "cpu/atomics.hpp"

// nvcc takes alignas between other specifiers, g++ only the attribute.
#define alignas(bytes) __align__(bytes)
