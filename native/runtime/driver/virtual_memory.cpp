// Driver API: virtual memory management. An address range is a range of the arena; memory mapped there is an
// allocation of its own, and can be mapped in one place at a time.
#include "runtime/driver/driver.h"

namespace warpwatt::runtime {

struct PhysicalMemory {
    std::size_t bytes;
    CUmemAllocationProp properties;
    std::uint64_t mapped_at = 0;
};
using CUmemGenericAllocationHandle = PhysicalMemory*;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

PhysicalMemory* mapped_at(std::uint64_t address, PhysicalMemory* remember = nullptr) {
    static std::map<std::uint64_t, PhysicalMemory*> mapped;
    if (remember) mapped[address] = remember;
    auto found = mapped.find(address);
    return found == mapped.end() ? nullptr : found->second;
}

}  // namespace

RUNTIME_API CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*, int) {
    *bytes = kGranularity;
    return CUDA_SUCCESS;
}

RUNTIME_API CUresult cuMemAddressReserve(CUdeviceptr* pointer, std::size_t bytes, std::size_t, CUdeviceptr,
                                         unsigned long long) {
    return driver_call([&](Client& client) {
        if (!bytes || bytes % kGranularity) return cudaErrorInvalidValue;
        *pointer = client.arena.reserve(bytes, false);
        return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
    });
}

RUNTIME_API CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t) {
    return driver_call([&](Client& client) {
        client.arena.release(pointer, false);
        return cudaSuccess;
    });
}

RUNTIME_API CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                                 const CUmemAllocationProp* properties, unsigned long long) {
    return driver_call([&](Client&) {
        if (!bytes || bytes % kGranularity) return cudaErrorInvalidValue;
        *handle = new PhysicalMemory{bytes, *properties};
        return cudaSuccess;
    });
}

// As asked for: memory may be compressible, and nothing in it is compressed.
RUNTIME_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                            CUmemGenericAllocationHandle handle) {
    if (!properties || !handle) return CUDA_ERROR_INVALID_VALUE;
    *properties = handle->properties;
    return CUDA_SUCCESS;
}

// What is mapped stays until it is unmapped.
RUNTIME_API CUresult cuMemRelease(CUmemGenericAllocationHandle) { return CUDA_SUCCESS; }

RUNTIME_API CUresult cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset,
                              CUmemGenericAllocationHandle handle, unsigned long long) {
    return driver_call([&](Client& client) {
        if (!handle || offset || bytes != handle->bytes || !client.arena.contains(pointer))
            return cudaErrorInvalidValue;
        if (handle->mapped_at) return refuse("cuMemMap of memory that is mapped", nullptr);
        handle->mapped_at = pointer;
        mapped_at(pointer, handle);
        client.announce({pointer, bytes, message::Memory::kDevice, handle->properties.location.id});
        return cudaSuccess;
    });
}

RUNTIME_API CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes) {
    return driver_call([&](Client& client) {
        for (std::uint64_t at = pointer; at < pointer + bytes;) {
            PhysicalMemory* found = mapped_at(at);
            if (!found || !found->mapped_at) return cudaErrorInvalidValue;
            if (cudaError_t error = client.withdraw(at, 0)) return error;
            found->mapped_at = 0;
            at += found->bytes;
        }
        return cudaSuccess;
    });
}

// All devices may access all memory.
RUNTIME_API CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const cudaMemAccessDesc*, std::size_t) {
    return CUDA_SUCCESS;
}

}  // namespace warpwatt::runtime
