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

#ifdef __cplusplus
// A device was a number until CUDA 13 (its release notes, "Deprecated or Dropped Features"), the host -1.
static inline cudaMemLocation warpwattLocation(int device) {
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *data, size_t bytes, int device,
                                               cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(data, bytes, warpwattLocation(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void *data, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(data, bytes, advice, warpwattLocation(device));
}
#endif

#if defined(__CUDACC__) && defined(WARPWATT_CUB_OPERATORS)
// Operators that CUDA Core Compute Libraries 3 dropped, by those that took their place.
#include <cuda/functional>
#include <cuda/std/functional>
namespace cub {
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;
using Sum = ::cuda::std::plus<>;
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
}  // namespace cub
#endif

#if defined(__cplusplus) && defined(WARPWATT_THRUST_BASES)
// Base classes that CUDA Core Compute Libraries 3 dropped, as C++ had them until C++17.
namespace thrust {
template <typename Argument, typename Result>
struct unary_function {
    using argument_type = Argument;
    using result_type = Result;
};
template <typename First, typename Second, typename Result>
struct binary_function {
    using first_argument_type = First;
    using second_argument_type = Second;
    using result_type = Result;
};
}  // namespace thrust
#endif

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

#if defined(__CUDACC__) && defined(WARPWATT_TEXTURE_REFERENCES)
// Texture references, which CUDA 12 dropped (CUDA C++ Programming Guide 11.8, "Texture Reference API"): variables
// that host and device share, which hold a texture object once they are bound.
#include <cuda_runtime.h>

struct textureReference {
    int normalized;
    cudaTextureFilterMode filterMode;
    cudaTextureAddressMode addressMode[3];
    cudaChannelFormatDesc channelDesc;
    int sRGB;
    cudaTextureObject_t object;
};

template <typename T, int dimensions = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct warpwattTexture : textureReference {};

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t warpwattBind(warpwattTexture<T, dimensions, mode> &texture, const cudaResourceDesc &resource) {
    cudaTextureDesc how = {};
    how.filterMode = texture.filterMode;
    for (int axis = 0; axis < 3; ++axis) how.addressMode[axis] = texture.addressMode[axis];
    how.normalizedCoords = texture.normalized;
    how.readMode = mode;
    how.sRGB = texture.sRGB;
    return cudaCreateTextureObject(&texture.object, &resource, &how, nullptr);
}

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t *offset, warpwattTexture<T, dimensions, mode> &texture, const void *data,
                            const cudaChannelFormatDesc &format, size_t bytes = ~size_t{0} >> 33) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {const_cast<void *>(data), format, bytes};
    if (offset) *offset = 0;
    return warpwattBind(texture, resource);
}

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t *offset, warpwattTexture<T, dimensions, mode> &texture, const void *data,
                            size_t bytes = ~size_t{0} >> 33) {
    return cudaBindTexture(offset, texture, data, cudaCreateChannelDesc<T>(), bytes);
}

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t *offset, warpwattTexture<T, dimensions, mode> *texture, const void *data,
                            const cudaChannelFormatDesc *format, size_t bytes = ~size_t{0} >> 33) {
    return cudaBindTexture(offset, *texture, data, *format, bytes);
}

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t cudaBindTexture2D(size_t *offset, warpwattTexture<T, dimensions, mode> &texture, const void *data,
                              const cudaChannelFormatDesc &format, size_t width, size_t height, size_t pitch) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {const_cast<void *>(data), format, width, height, pitch};
    if (offset) *offset = 0;
    return warpwattBind(texture, resource);
}

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(warpwattTexture<T, dimensions, mode> &texture, cudaArray_const_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return warpwattBind(texture, resource);
}

template <typename T, int dimensions, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(warpwattTexture<T, dimensions, mode> &texture, cudaArray_const_t array,
                                   const cudaChannelFormatDesc &) {
    return cudaBindTextureToArray(texture, array);
}

static inline cudaError_t cudaUnbindTexture(textureReference &texture) {
    return cudaDestroyTextureObject(texture.object);
}

static inline cudaError_t cudaUnbindTexture(textureReference *texture) { return cudaUnbindTexture(*texture); }

template <typename T, cudaTextureReadMode mode>
struct warpwattFetched {
    using type = T;
};
template <>
struct warpwattFetched<unsigned char, cudaReadModeNormalizedFloat> {
    using type = float;
};
template <>
struct warpwattFetched<unsigned short, cudaReadModeNormalizedFloat> {
    using type = float;
};
template <>
struct warpwattFetched<uchar4, cudaReadModeNormalizedFloat> {
    using type = float4;
};

template <typename T, cudaTextureReadMode mode>
__device__ inline T tex1Dfetch(const warpwattTexture<T, 1, mode> &texture, int x) {
    return tex1Dfetch<T>(texture.object, x);
}
template <typename T, cudaTextureReadMode mode>
__device__ inline typename warpwattFetched<T, mode>::type tex1D(const warpwattTexture<T, 1, mode> &texture, float x) {
    return tex1D<typename warpwattFetched<T, mode>::type>(texture.object, x);
}
template <typename T, cudaTextureReadMode mode>
__device__ inline typename warpwattFetched<T, mode>::type tex2D(const warpwattTexture<T, 2, mode> &texture, float x,
                                                               float y) {
    return tex2D<typename warpwattFetched<T, mode>::type>(texture.object, x, y);
}
template <typename T, cudaTextureReadMode mode>
__device__ inline typename warpwattFetched<T, mode>::type tex3D(const warpwattTexture<T, 3, mode> &texture, float x,
                                                               float y, float z) {
    return tex3D<typename warpwattFetched<T, mode>::type>(texture.object, x, y, z);
}

#define texture __device__ __managed__ warpwattTexture
#endif
