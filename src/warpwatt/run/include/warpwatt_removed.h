// Functions that CUDA 13 no longer declares, by those that took their place (CUDA Runtime API, "Deprecated
// List"): programs written for older toolkits call them.
#pragma once

#include <cuda_runtime_api.h>

static inline cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
static inline cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
static inline cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config) {
    return cudaDeviceGetCacheConfig(config);
}
static inline cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}

#if defined(__cplusplus) && defined(WARPWATT_REMOVED_PROPERTIES)
// Fields of cudaDeviceProp that CUDA 13 no longer has (its release notes, "Deprecated or Dropped Features"), from
// the attributes that took their place.
struct warpwattDeviceProp : cudaDeviceProp {
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode;
    int singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch, maxTexture1DLinear;
};

static inline cudaError_t cudaGetDeviceProperties(warpwattDeviceProp *properties, int device) {
    const struct {
        int *field;
        cudaDeviceAttr attribute;
    } removed[] = {
        {&properties->clockRate, cudaDevAttrClockRate},
        {&properties->memoryClockRate, cudaDevAttrMemoryClockRate},
        {&properties->deviceOverlap, cudaDevAttrGpuOverlap},
        {&properties->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
        {&properties->computeMode, cudaDevAttrComputeMode},
        {&properties->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
        {&properties->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
    };
    for (const auto &one : removed) cudaDeviceGetAttribute(one.field, one.attribute, device);
    properties->cooperativeMultiDeviceLaunch = 0;  // such launches are gone
    return cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(properties), device);
}

#define cudaDeviceProp warpwattDeviceProp
#endif
