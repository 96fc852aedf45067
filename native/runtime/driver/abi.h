// The types of the CUDA Driver API that pass between programs and us, as its documentation describes them. A
// test compares sizes and offsets with NVIDIA's headers.
#pragma once

#include "runtime/abi.h"

namespace warpwatt::runtime {

enum CUresult : int {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_SUPPORTED = 801,
};

struct Context;
struct Link;
using CUcontext = Context*;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUmodule = Module*;
using CUlibrary = Module*;
using CUfunction = Function*;
using CUkernel = Function*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUarray = cudaArray_t;
using CUmemoryPool = cudaMemPool_t;
using CUgraph = cudaGraph_t;
using CUgraphExec = cudaGraphExec_t;
using CUlinkState = Link*;

struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

enum CUmemorytype : int { kMemoryHost = 1, kMemoryDevice, kMemoryArray, kMemoryUnified };

struct CUDA_MEMCPY2D {
    std::size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void* srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    std::size_t srcPitch;
    std::size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void* dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    std::size_t dstPitch;
    std::size_t WidthInBytes, Height;
};
struct CUDA_MEMCPY3D {
    std::size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void* srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void* reserved0;
    std::size_t srcPitch, srcHeight;
    std::size_t dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void* dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void* reserved1;
    std::size_t dstPitch, dstHeight;
    std::size_t WidthInBytes, Height, Depth;
};

struct CUmemAllocationProp {
    int type, requestedHandleTypes;
    cudaMemLocation location;
    void* win32HandleMetaData;
    unsigned char allocFlags[8];
};

struct CUDA_RESOURCE_DESC {
    int resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUdeviceptr devPtr;
            int format;
            unsigned numChannels;
            std::size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            int format;
            unsigned numChannels;
            std::size_t width, height, pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned flags;
};
struct CUDA_TEXTURE_DESC {
    int addressMode[3];
    int filterMode;
    unsigned flags, maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
};
struct CUDA_ARRAY3D_DESCRIPTOR {
    std::size_t Width, Height, Depth;
    int Format;
    unsigned NumChannels, Flags;
};
struct CUDA_ARRAY_DESCRIPTOR {
    std::size_t Width, Height;
    int Format;
    unsigned NumChannels;
};

}  // namespace warpwatt::runtime
