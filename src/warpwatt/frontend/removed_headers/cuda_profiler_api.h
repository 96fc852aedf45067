// Profiler control (CUDA Runtime API, "Profiler Control"), for toolkits whose wheels lack this header.
#pragma once

#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif
extern cudaError_t cudaProfilerStart(void);
extern cudaError_t cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif
