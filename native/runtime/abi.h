// The types of the CUDA Runtime API that pass between programs and us, as its documentation describes them
// for CUDA 13. A test compares sizes and offsets with NVIDIA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

#define RUNTIME_API extern "C" __attribute__((visibility("default")))

namespace warpwatt::runtime {

enum cudaError_t : int {
#define ERROR(name, number, text) name = number,
#include "runtime/errors.inc"
#undef ERROR
};

// What handles point to is ours.
struct Stream;
struct Event;
struct Array;
struct Graph;
struct GraphNode;
struct GraphExec;
struct Pool;
struct Function;
struct Module;
using cudaStream_t = Stream*;
using cudaEvent_t = Event*;
using cudaArray_t = Array*;
using cudaMipmappedArray_t = Array*;
using cudaGraph_t = Graph*;
using cudaGraphNode_t = GraphNode*;
using cudaGraphExec_t = GraphExec*;
using cudaMemPool_t = Pool*;
using cudaFunction_t = Function*;
using cudaKernel_t = Function*;
using cudaLibrary_t = Module*;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

enum cudaMemcpyKind : int {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemoryType : int {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};

struct cudaChannelFormatDesc {
    int x, y, z, w;
    int f;
};
struct cudaExtent {
    std::size_t width, height, depth;
};
struct cudaPos {
    std::size_t x, y, z;
};
struct cudaPitchedPtr {
    void* ptr;
    std::size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    int dstDevice;
    cudaExtent extent;
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
    long reserved[8];
};
struct cudaFuncAttributes {
    std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
    int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
};
enum cudaFuncAttribute : int {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};

union cudaLaunchAttributeValue {
    char bytes[64];
    int number;
    dim3 clusterDim;
};
struct cudaLaunchAttribute {
    int id;
    char pad[4];
    cudaLaunchAttributeValue val;
};
enum : int {
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributePriority = 8,
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

struct cudaResourceDesc {
    int resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            std::size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            std::size_t width, height, pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned flags;
};
struct cudaTextureDesc {
    int addressMode[3];
    int filterMode, readMode, sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc {
    int format;
    std::size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
};

struct cudaMemLocation {
    int type, id;
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    int flags;
};
struct cudaMemPoolProps {
    int allocType, handleTypes;
    cudaMemLocation location;
    void* win32SecurityAttributes;
    std::size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};
struct cudaMemAllocNodeParams {
    cudaMemPoolProps poolProps;
    const cudaMemAccessDesc* accessDescs;
    std::size_t accessDescCount, bytesize;
    void* dptr;
};

struct cudaArrayMemoryRequirements {
    std::size_t size, alignment;
    unsigned reserved[4];
};

struct cudaKernelNodeParams {
    void* func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void** kernelParams;
    void** extra;
};
struct cudaMemsetParams {
    void* dst;
    std::size_t pitch;
    unsigned value, elementSize;
    std::size_t width, height;
};
struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void* userData;
};
struct cudaGraphEdgeData {
    unsigned char from_port, to_port, type, reserved[5];
};
struct cudaGraphExecUpdateResultInfo {
    int result;
    cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaGraphInstantiateParams {
    unsigned long long flags;
    cudaStream_t uploadStream;
    cudaGraphNode_t errNode_out;
    int result_out;
};
enum cudaStreamCaptureStatus : int { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };

struct cudaUUID_t {
    char bytes[16];
};

// FIELD(type, name), ARRAY(type, name, count).
#define DEVICE_PROPERTIES(FIELD, ARRAY)                \
    ARRAY(char, luid, 8)                               \
    FIELD(unsigned, luidDeviceNodeMask)                \
    FIELD(std::size_t, totalGlobalMem)                 \
    FIELD(std::size_t, sharedMemPerBlock)              \
    FIELD(int, regsPerBlock)                           \
    FIELD(int, warpSize)                               \
    FIELD(std::size_t, memPitch)                       \
    FIELD(int, maxThreadsPerBlock)                     \
    ARRAY(int, maxThreadsDim, 3)                       \
    ARRAY(int, maxGridSize, 3)                         \
    FIELD(std::size_t, totalConstMem)                  \
    FIELD(int, major)                                  \
    FIELD(int, minor)                                  \
    FIELD(std::size_t, textureAlignment)               \
    FIELD(std::size_t, texturePitchAlignment)          \
    FIELD(int, multiProcessorCount)                    \
    FIELD(int, integrated)                             \
    FIELD(int, canMapHostMemory)                       \
    FIELD(int, maxTexture1D)                           \
    FIELD(int, maxTexture1DMipmap)                     \
    ARRAY(int, maxTexture2D, 2)                        \
    ARRAY(int, maxTexture2DMipmap, 2)                  \
    ARRAY(int, maxTexture2DLinear, 3)                  \
    ARRAY(int, maxTexture2DGather, 2)                  \
    ARRAY(int, maxTexture3D, 3)                        \
    ARRAY(int, maxTexture3DAlt, 3)                     \
    FIELD(int, maxTextureCubemap)                      \
    ARRAY(int, maxTexture1DLayered, 2)                 \
    ARRAY(int, maxTexture2DLayered, 3)                 \
    ARRAY(int, maxTextureCubemapLayered, 2)            \
    FIELD(int, maxSurface1D)                           \
    ARRAY(int, maxSurface2D, 2)                        \
    ARRAY(int, maxSurface3D, 3)                        \
    ARRAY(int, maxSurface1DLayered, 2)                 \
    ARRAY(int, maxSurface2DLayered, 3)                 \
    FIELD(int, maxSurfaceCubemap)                      \
    ARRAY(int, maxSurfaceCubemapLayered, 2)            \
    FIELD(std::size_t, surfaceAlignment)               \
    FIELD(int, concurrentKernels)                      \
    FIELD(int, ECCEnabled)                             \
    FIELD(int, pciBusID)                               \
    FIELD(int, pciDeviceID)                            \
    FIELD(int, pciDomainID)                            \
    FIELD(int, tccDriver)                              \
    FIELD(int, asyncEngineCount)                       \
    FIELD(int, unifiedAddressing)                      \
    FIELD(int, memoryBusWidth)                         \
    FIELD(int, l2CacheSize)                            \
    FIELD(int, persistingL2CacheMaxSize)               \
    FIELD(int, maxThreadsPerMultiProcessor)            \
    FIELD(int, streamPrioritiesSupported)              \
    FIELD(int, globalL1CacheSupported)                 \
    FIELD(int, localL1CacheSupported)                  \
    FIELD(std::size_t, sharedMemPerMultiprocessor)     \
    FIELD(int, regsPerMultiprocessor)                  \
    FIELD(int, managedMemory)                          \
    FIELD(int, isMultiGpuBoard)                        \
    FIELD(int, multiGpuBoardGroupID)                   \
    FIELD(int, hostNativeAtomicSupported)              \
    FIELD(int, pageableMemoryAccess)                   \
    FIELD(int, concurrentManagedAccess)                \
    FIELD(int, computePreemptionSupported)             \
    FIELD(int, canUseHostPointerForRegisteredMem)      \
    FIELD(int, cooperativeLaunch)                      \
    FIELD(std::size_t, sharedMemPerBlockOptin)         \
    FIELD(int, pageableMemoryAccessUsesHostPageTables) \
    FIELD(int, directManagedMemAccessFromHost)         \
    FIELD(int, maxBlocksPerMultiProcessor)             \
    FIELD(int, accessPolicyMaxWindowSize)              \
    FIELD(std::size_t, reservedSharedMemPerBlock)      \
    FIELD(int, hostRegisterSupported)                  \
    FIELD(int, sparseCudaArraySupported)               \
    FIELD(int, hostRegisterReadOnlySupported)          \
    FIELD(int, timelineSemaphoreInteropSupported)      \
    FIELD(int, memoryPoolsSupported)                   \
    FIELD(int, gpuDirectRDMASupported)                 \
    FIELD(unsigned, gpuDirectRDMAFlushWritesOptions)   \
    FIELD(int, gpuDirectRDMAWritesOrdering)            \
    FIELD(unsigned, memoryPoolSupportedHandleTypes)    \
    FIELD(int, deferredMappingCudaArraySupported)      \
    FIELD(int, ipcEventSupported)                      \
    FIELD(int, clusterLaunch)                          \
    FIELD(int, unifiedFunctionPointers)                \
    FIELD(int, deviceNumaConfig)                       \
    FIELD(int, deviceNumaId)                           \
    FIELD(int, mpsEnabled)                             \
    FIELD(int, hostNumaId)                             \
    FIELD(unsigned, gpuPciDeviceID)                    \
    FIELD(unsigned, gpuPciSubsystemID)                 \
    FIELD(int, hostNumaMultinodeIpcSupported)

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
#define FIELD(type, name) type name;
#define ARRAY(type, name, count) type name[count];
    DEVICE_PROPERTIES(FIELD, ARRAY)
#undef FIELD
#undef ARRAY
    int reserved[56];
};

}  // namespace warpwatt::runtime
