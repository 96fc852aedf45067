// Memory management: stream-ordered allocation and pools.
#include <algorithm>

#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/graph_memory.h"

namespace warpwatt::runtime {

namespace {

using message::Memory;

enum : int {  // cudaMemPoolAttr
    kReleaseThreshold = 4,
    kReservedCurrent = 5,
    kReservedHigh = 6,
    kUsedCurrent = 7,
    kUsedHigh = 8,
};

Pool* default_pool(Client& client, int number) {
    Device& device = client.devices[static_cast<std::size_t>(number)];
    if (!device.pool) device.pool = client.pools.add({number, {}, {}});
    return device.pool;
}

template <typename Body>
cudaError_t call_with(cudaMemPool_t handle, Body&& body) {
    return call([&](Client& client) {
        Pool* pool = client.pools.find(handle);
        return pool ? body(client, *pool) : cudaErrorInvalidValue;
    });
}

cudaError_t allocate(Client& client, Stream& stream, Pool* pool, void** pointer, std::size_t bytes) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (stream.capture) {
        AllocateWork work{0, bytes, {}};
        if (cudaError_t error = allocate_in_graph(client, &work)) return error;
        *pointer = pointer_of(work.address);
        return client.submit(stream, work);
    }
    std::uint64_t address = client.allocate(bytes, Memory::kPool, 0, stream.number);
    if (!address) return cudaErrorMemoryAllocation;
    client.allocations.at(address)->pool = pool;
    std::uint64_t& used = pool->attributes[kUsedCurrent];
    used += bytes;
    pool->attributes[kReservedCurrent] = std::max(pool->attributes[kReservedCurrent], used);
    for (auto [current, high] :
         {std::pair(kUsedCurrent, kUsedHigh), std::pair(kReservedCurrent, kReservedHigh)})
        pool->attributes[high] = std::max(pool->attributes[high], pool->attributes[current]);
    *pointer = pointer_of(address);
    return cudaSuccess;
}

bool is_32_bit(int attribute) { return attribute < kReleaseThreshold; }

}  // namespace

cudaError_t allocate_in_graph(Client& client, AllocateWork* work) {
    work->address = client.allocate(work->bytes, Memory::kPool);
    client.graph_allocations.insert(work->address);
    work->parameters.bytesize = work->bytes;
    work->parameters.dptr = pointer_of(work->address);
    return work->address ? cudaSuccess : cudaErrorMemoryAllocation;
}

RUNTIME_API cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t handle) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        return allocate(client, stream, default_pool(client, stream.device), pointer, bytes);
    });
}

RUNTIME_API cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t handle,
                                                cudaStream_t stream) {
    return call_with(handle, [&](Client& client, Pool& pool) {
        Stream* found = client.stream(stream);
        return found ? allocate(client, *found, &pool, pointer, bytes) : cudaErrorInvalidResourceHandle;
    });
}

RUNTIME_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        if (!pointer) return cudaSuccess;
        Allocation* found = client.allocations.at(number_of(pointer));
        if (!found || found->kind == Memory::kPinned || found->of_module) return cudaErrorInvalidValue;
        if (auto pool = static_cast<Pool*>(found->pool)) pool->attributes[kUsedCurrent] -= found->size;
        return client.submit(stream, FreeWork{number_of(pointer)});
    });
}

RUNTIME_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
    return call([&](Client& client) {
        if (!handle || !properties) return cudaErrorInvalidValue;
        *handle = client.pools.add({properties->location.id, {}, *properties});
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
    return call_with(handle, [&](Client& client, Pool& pool) {
        for (Device& device : client.devices)
            if (device.pool == &pool) return cudaErrorInvalidValue;
        for (auto& [address, allocation] : client.allocations.all())
            if (allocation.pool == &pool) client.allocations.at(address)->pool = nullptr;
        client.pools.remove(&pool);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int number) {
    return call([&](Client& client) {
        if (number < 0 || static_cast<std::size_t>(number) >= client.devices.size())
            return cudaErrorInvalidDevice;
        *handle = default_pool(client, number);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* handle, int number) {
    return cudaDeviceGetDefaultMemPool(handle, number);
}

RUNTIME_API cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t handle) {
    return call_with(handle, [&](Client& client, Pool& pool) {
        if (number < 0 || static_cast<std::size_t>(number) >= client.devices.size())
            return cudaErrorInvalidDevice;
        client.devices[static_cast<std::size_t>(number)].pool = &pool;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* handle, cudaMemLocation* location, int) {
    return cudaDeviceGetDefaultMemPool(handle, location->id);
}

RUNTIME_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* handle, cudaMemLocation* location, int) {
    return cudaDeviceGetDefaultMemPool(handle, location->id);
}

RUNTIME_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location, int, cudaMemPool_t handle) {
    return cudaDeviceSetMemPool(location->id, handle);
}

// What is free is given back at once.
RUNTIME_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t) {
    return call_with(handle, [](Client&, Pool& pool) {
        pool.attributes[kReservedCurrent] = pool.attributes[kUsedCurrent];
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, int attribute, void* value) {
    return call_with(handle, [&](Client&, Pool& pool) {
        if (!value) return cudaErrorInvalidValue;
        pool.attributes[attribute] = is_32_bit(attribute)
                                         ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                         : *static_cast<std::uint64_t*>(value);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, int attribute, void* value) {
    return call_with(handle, [&](Client&, Pool& pool) {
        if (!value) return cudaErrorInvalidValue;
        if (is_32_bit(attribute))
            *static_cast<int*>(value) = static_cast<int>(pool.attributes[attribute]);
        else
            *static_cast<std::uint64_t*>(value) = pool.attributes[attribute];
        return cudaSuccess;
    });
}

// All devices may access all memory.
RUNTIME_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc*, std::size_t) {
    return call_with(handle, [](Client&, Pool&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaMemPoolGetAccess(int* flags, cudaMemPool_t handle, cudaMemLocation*) {
    constexpr int kReadWrite = 3;  // cudaMemAccessFlagsProtReadWrite
    return call_with(handle, [&](Client&, Pool&) {
        *flags = kReadWrite;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceGraphMemTrim(int) {
    return call([](Client&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaDeviceGetGraphMemAttribute(int, int, void* value) {
    return call([&](Client& client) {
        std::uint64_t bytes = 0;
        for (std::uint64_t address : client.graph_allocations)
            if (Allocation* found = client.allocations.at(address)) bytes += found->size;
        *static_cast<std::uint64_t*>(value) = bytes;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaDeviceSetGraphMemAttribute(int, int, void*) {
    return call([](Client&) { return cudaSuccess; });
}

}  // namespace warpwatt::runtime
