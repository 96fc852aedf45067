// Driver API: memory.
#include <algorithm>
#include <cstring>

#include "runtime/copies.h"
#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

namespace {

// One side of a copy of rows.
Rows side(Client& client, CUmemorytype type, const void* host, CUdeviceptr device, CUarray handle,
          std::size_t pitch, std::size_t height, std::size_t x, std::size_t y, std::size_t z) {
    if (type == kMemoryArray) {
        Array* array = client.arrays.find(handle);
        return array ? rows_of(*array, x, y, z) : Rows{};
    }
    std::uint64_t address = type == kMemoryHost ? number_of(host) : device;
    std::size_t slice = pitch * height;
    return {address + z * slice + y * pitch + x, pitch, slice};
}

CUresult copy(CUstream handle, bool asynchronous, auto&& make) {
    return result(call_in(handle, [&](Client& client, Stream& stream) {
        CopyWork work = make(client);
        work.asynchronous = asynchronous;
        return submit_copy(client, stream, work);
    }));
}

CUresult copy_2d(const CUDA_MEMCPY2D* copied, bool asynchronous, CUstream stream) {
    const CUDA_MEMCPY2D& c = *copied;
    return copy(stream, asynchronous, [&](Client& client) -> CopyWork {
        auto from = side(client, c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch, 0,
                         c.srcXInBytes, c.srcY, 0);
        auto to = side(client, c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, 0,
                       c.dstXInBytes, c.dstY, 0);
        return {to, from, c.WidthInBytes, c.Height, 1, cudaMemcpyDefault};
    });
}

CUresult copy_3d(const CUDA_MEMCPY3D* copied, bool asynchronous, CUstream stream) {
    const CUDA_MEMCPY3D& c = *copied;
    return copy(stream, asynchronous, [&](Client& client) -> CopyWork {
        auto from = side(client, c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch, c.srcHeight,
                         c.srcXInBytes, c.srcY, c.srcZ);
        auto to = side(client, c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, c.dstHeight,
                       c.dstXInBytes, c.dstY, c.dstZ);
        return {to, from, c.WidthInBytes, c.Height, c.Depth, cudaMemcpyDefault};
    });
}

CUresult fill(CUstream handle, CUdeviceptr to, std::size_t pitch, unsigned value, unsigned size,
              std::size_t width, std::size_t height, bool asynchronous) {
    return result(call_in(handle, [&](Client& client, Stream& stream) {
        return submit_fill(client, stream,
                           {{to, pitch, 0}, width * size, height, 1, value, size, asynchronous});
    }));
}

cudaError_t find(Client& client, CUdeviceptr pointer, Allocation** found) {
    *found = client.allocations.around(pointer);
    return *found ? cudaSuccess : cudaErrorInvalidValue;
}

enum : int {  // CUpointer_attribute
    kContext = 1,
    kMemoryType = 2,
    kDevicePointer = 3,
    kHostPointer = 4,
    kSyncMemops = 6,
    kBufferId = 7,
    kIsManaged = 8,
    kDeviceOrdinal = 9,
    kRangeStart = 11,
    kRangeSize = 12,
    kMapped = 13,
};

cudaError_t attribute_of(Client& client, CUdeviceptr pointer, int attribute, void* data) {
    Allocation* found;
    if (cudaError_t error = find(client, pointer, &found)) return error;
    auto give = [&](auto value) {
        std::memcpy(data, &value, sizeof value);
        return cudaSuccess;
    };
    bool is_pinned = found->kind == message::Memory::kPinned;
    switch (attribute) {
        case kContext: {
            CUcontext context;
            cuDevicePrimaryCtxRetain(&context, found->device);
            return give(context);
        }
        case kMemoryType:
            return give(static_cast<unsigned>(is_pinned ? kMemoryHost : kMemoryDevice));
        case kDevicePointer:
            return give(pointer);
        case kHostPointer:
            if (found->is_device_only()) return cudaErrorInvalidValue;
            return give(pointer);
        case kSyncMemops:
            return give(0u);
        case kBufferId:
            return give(static_cast<unsigned long long>(found->address));
        case kIsManaged:
            return give(static_cast<unsigned>(found->kind == message::Memory::kManaged));
        case kDeviceOrdinal:
            return give(found->device);
        case kRangeStart:
            return give(found->address);
        case kRangeSize:
            return give(static_cast<std::size_t>(found->size));
        case kMapped:
            return give(1u);
        default:
            return cudaErrorNotSupported;
    }
}

}  // namespace

RUNTIME_API CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    return result(cudaMalloc(reinterpret_cast<void**>(pointer), bytes));
}
RUNTIME_API CUresult cuMemFree_v2(CUdeviceptr pointer) { return result(cudaFree(pointer_of(pointer))); }
RUNTIME_API CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                                        std::size_t height, unsigned) {
    return result(cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height));
}
RUNTIME_API CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned flags) {
    return result(cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags));
}
RUNTIME_API CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
    return result(cudaMallocHost(pointer, bytes));
}
RUNTIME_API CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    return result(cudaHostAlloc(pointer, bytes, flags));
}
RUNTIME_API CUresult cuMemFreeHost(void* pointer) { return result(cudaFreeHost(pointer)); }
RUNTIME_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pointer, void* host, unsigned flags) {
    return result(cudaHostGetDevicePointer(reinterpret_cast<void**>(pointer), host, flags));
}
RUNTIME_API CUresult cuMemHostGetFlags(unsigned* flags, void* host) {
    return result(cudaHostGetFlags(flags, host));
}
RUNTIME_API CUresult cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned flags) {
    return result(cudaHostRegister(host, bytes, flags));
}
RUNTIME_API CUresult cuMemHostRegister(void* host, std::size_t bytes, unsigned flags) {
    return cuMemHostRegister_v2(host, bytes, flags);
}
RUNTIME_API CUresult cuMemHostUnregister(void* host) { return result(cudaHostUnregister(host)); }
RUNTIME_API CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
    return result(cudaMemGetInfo(free_bytes, total));
}
RUNTIME_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
    return driver_call([&](Client& client) {
        Allocation* found;
        if (cudaError_t error = find(client, pointer, &found)) return error;
        if (base) *base = found->address;
        if (bytes) *bytes = found->size;
        return cudaSuccess;
    });
}
RUNTIME_API CUresult cuPointerGetAttribute(void* data, int attribute, CUdeviceptr pointer) {
    return driver_call([&](Client& client) { return attribute_of(client, pointer, attribute, data); });
}
RUNTIME_API CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** data,
                                            CUdeviceptr pointer) {
    return driver_call([&](Client& client) {
        for (unsigned i = 0; i < count; ++i) attribute_of(client, pointer, attributes[i], data[i]);
        return cudaSuccess;
    });
}
RUNTIME_API CUresult cuPointerSetAttribute(const void*, int, CUdeviceptr) { return CUDA_SUCCESS; }

RUNTIME_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return result(cudaMemcpy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault));
}
RUNTIME_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return result(cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, stream));
}
RUNTIME_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    return result(cudaMemcpy(pointer_of(to), from, bytes, cudaMemcpyHostToDevice));
}
RUNTIME_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return result(cudaMemcpy(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost));
}
RUNTIME_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return result(cudaMemcpy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice));
}
RUNTIME_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                          CUstream stream) {
    return result(cudaMemcpyAsync(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
RUNTIME_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return result(cudaMemcpyAsync(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, stream));
}
RUNTIME_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                          CUstream stream) {
    return result(cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, stream));
}
RUNTIME_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
RUNTIME_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copied) { return copy_2d(copied, false, nullptr); }
RUNTIME_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copied) {
    return copy_2d(copied, false, nullptr);
}
RUNTIME_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copied, CUstream stream) {
    return copy_2d(copied, true, stream);
}
RUNTIME_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copied) { return copy_3d(copied, false, nullptr); }
RUNTIME_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copied, CUstream stream) {
    return copy_3d(copied, true, stream);
}

RUNTIME_API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
    return fill(nullptr, to, 0, value, 1, count, 1, false);
}
RUNTIME_API CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
    return fill(nullptr, to, 0, value, 2, count, 1, false);
}
RUNTIME_API CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
    return fill(nullptr, to, 0, value, 4, count, 1, false);
}
RUNTIME_API CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                     std::size_t width, std::size_t height) {
    return fill(nullptr, to, pitch, value, 1, width, height, false);
}
RUNTIME_API CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                      std::size_t width, std::size_t height) {
    return fill(nullptr, to, pitch, value, 2, width, height, false);
}
RUNTIME_API CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                                      std::size_t height) {
    return fill(nullptr, to, pitch, value, 4, width, height, false);
}
RUNTIME_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                     CUstream stream) {
    return fill(stream, to, 0, value, 1, count, 1, true);
}
RUNTIME_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                                      CUstream stream) {
    return fill(stream, to, 0, value, 2, count, 1, true);
}
RUNTIME_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
    return fill(stream, to, 0, value, 4, count, 1, true);
}

RUNTIME_API CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
    return result(cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream));
}
RUNTIME_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                             CUstream stream) {
    return result(cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream));
}
RUNTIME_API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    return result(cudaFreeAsync(pointer_of(pointer), stream));
}
RUNTIME_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
    return result(cudaDeviceGetDefaultMemPool(pool, device));
}
RUNTIME_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
    return result(cudaDeviceGetMemPool(pool, device));
}
RUNTIME_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    return result(cudaDeviceSetMemPool(device, pool));
}
RUNTIME_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const cudaMemPoolProps* properties) {
    return result(cudaMemPoolCreate(pool, properties));
}
RUNTIME_API CUresult cuMemPoolDestroy(CUmemoryPool pool) { return result(cudaMemPoolDestroy(pool)); }
RUNTIME_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
    return result(cudaMemPoolTrimTo(pool, bytes));
}
RUNTIME_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
    return result(cudaMemPoolSetAttribute(pool, attribute, value));
}
RUNTIME_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
    return result(cudaMemPoolGetAttribute(pool, attribute, value));
}
RUNTIME_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const cudaMemAccessDesc* access,
                                        std::size_t count) {
    return result(cudaMemPoolSetAccess(pool, access, count));
}
RUNTIME_API CUresult cuMemPrefetchAsync(CUdeviceptr pointer, std::size_t bytes, CUdevice device,
                                        CUstream stream) {
    return result(cudaMemPrefetchAsync(pointer_of(pointer), bytes, {1, device}, 0, stream));
}
RUNTIME_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, std::size_t bytes, cudaMemLocation location,
                                           unsigned flags, CUstream stream) {
    return result(cudaMemPrefetchAsync(pointer_of(pointer), bytes, location, flags, stream));
}
RUNTIME_API CUresult cuMemAdvise(CUdeviceptr pointer, std::size_t bytes, int advice, CUdevice device) {
    return result(cudaMemAdvise(pointer_of(pointer), bytes, advice, {1, device}));
}
RUNTIME_API CUresult cuMemAdvise_v2(CUdeviceptr pointer, std::size_t bytes, int advice,
                                    cudaMemLocation location) {
    return result(cudaMemAdvise(pointer_of(pointer), bytes, advice, location));
}

}  // namespace warpwatt::runtime
