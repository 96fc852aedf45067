// Memory management: allocations and what pointers point to.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

using message::Memory;

constexpr std::size_t kPitch = 512;

cudaError_t allocate(Client& client, void** pointer, std::size_t bytes, Memory kind, unsigned flags) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    *pointer = pointer_of(client.allocate(bytes, kind, flags));
    return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

// Frees what cudaMalloc and its kin returned, which may have been of other kinds.
cudaError_t free_any(Client& client, void* pointer, bool of_host) {
    if (!pointer) return cudaSuccess;
    Allocation* found = client.allocations.at(number_of(pointer));
    bool is_host = found && found->kind == Memory::kPinned;
    if (!found || found->of_module || found->registered || is_host != of_host) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    if (found->kind != Memory::kPinned) {  // freeing waits for the device
        auto device = static_cast<std::uint32_t>(found->device);
        error = client.ask(message::Type::kSynchronize, message::Synchronize{0, 1, device});
    }
    cudaError_t freed = client.free(number_of(pointer));
    return error ? error : freed;
}

struct Pages {
    std::uint64_t begin, end;
    explicit Pages(const void* pointer, std::size_t bytes)
        : begin(number_of(pointer) & ~(Arena::kPage - 1)),
          end((number_of(pointer) + bytes + Arena::kPage - 1) & ~(Arena::kPage - 1)) {}
    std::size_t bytes() const { return end - begin; }
};

Allocation* registered_around(Client& client, const void* pointer) {
    for (auto& [address, allocation] : client.allocations.all()) {
        auto begin = number_of(allocation.registered);
        if (begin && number_of(pointer) - begin < allocation.size) return client.allocations.at(address);
    }
    return nullptr;
}

// Moves whole pages from or to the arena's file: the system call asks nobody whose bytes they are.
bool move_pages(long call, int file, char* pages, std::size_t bytes, std::uint64_t offset) {
    while (bytes) {
        long moved = syscall(call, file, pages, bytes, offset);
        if (moved <= 0) return false;
        pages += moved;
        offset += static_cast<std::uint64_t>(moved);
        bytes -= static_cast<std::size_t>(moved);
    }
    return true;
}

// The program's pages become pages of the arena, with what is in them.
cudaError_t register_pages(Client& client, void* pointer, std::size_t bytes, unsigned flags) {
    Pages pages(pointer, bytes);
    if (registered_around(client, pointer)) return cudaErrorHostMemoryAlreadyRegistered;
    std::uint64_t address = client.allocate(pages.bytes(), Memory::kPinned, flags);
    if (!address) return cudaErrorMemoryAllocation;
    if (!move_pages(SYS_pwrite64, client.arena.file(), static_cast<char*>(pointer_of(pages.begin)),
                    pages.bytes(), client.arena.offset(address)))
        return cudaErrorInvalidValue;
    void* mapped =
        mmap(pointer_of(pages.begin), pages.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             client.arena.file(), static_cast<off_t>(client.arena.offset(address)));
    if (mapped == MAP_FAILED) return cudaErrorInvalidValue;
    client.allocations.at(address)->registered = mapped;
    return cudaSuccess;
}

cudaError_t unregister_pages(Client& client, void* pointer) {
    Allocation* found = registered_around(client, pointer);
    if (!found) return cudaErrorHostMemoryNotRegistered;
    if (cudaError_t error = client.make_current(found->address, found->size, false)) return error;
    void* place = found->registered;
    if (mmap(place, found->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        place)
        return cudaErrorInvalidValue;
    if (!move_pages(SYS_pread64, client.arena.file(), static_cast<char*>(place), found->size,
                    client.arena.offset(found->address)))
        return cudaErrorInvalidValue;
    return client.free(found->address);
}

}  // namespace

RUNTIME_API cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    return call([&](Client& client) { return allocate(client, pointer, bytes, Memory::kDevice, 0); });
}

RUNTIME_API cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
    return call([&](Client& client) {
        if (bytes == 0) return cudaErrorInvalidValue;
        return allocate(client, pointer, bytes, Memory::kManaged, flags);
    });
}

RUNTIME_API cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    return call([&](Client& client) { return allocate(client, pointer, bytes, Memory::kPinned, flags); });
}

RUNTIME_API cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    return cudaHostAlloc(pointer, bytes, 0);
}

RUNTIME_API cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                        std::size_t height) {
    if (!pitch) return note(cudaErrorInvalidValue);
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    return cudaMalloc(pointer, *pitch * height);
}

RUNTIME_API cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    if (!pitched) return note(cudaErrorInvalidValue);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    std::size_t rows = std::max<std::size_t>(extent.height, 1) * std::max<std::size_t>(extent.depth, 1);
    return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, rows);
}

RUNTIME_API cudaError_t cudaFree(void* pointer) {
    return call([&](Client& client) { return free_any(client, pointer, false); });
}

RUNTIME_API cudaError_t cudaFreeHost(void* pointer) {
    return call([&](Client& client) { return free_any(client, pointer, true); });
}

RUNTIME_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
    return call([&](Client& client) {
        if (!pointer || !bytes) return cudaErrorInvalidValue;
        return register_pages(client, pointer, bytes, flags);
    });
}

RUNTIME_API cudaError_t cudaHostUnregister(void* pointer) {
    return call([&](Client& client) { return unregister_pages(client, pointer); });
}

RUNTIME_API cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned) {
    return call([&](Client& client) {
        Allocation* found = client.allocations.around(number_of(pointer));
        if (found && found->kind == Memory::kPinned) {
            *device_pointer = pointer;
            return cudaSuccess;
        }
        found = registered_around(client, pointer);
        if (!found) return cudaErrorInvalidValue;
        *device_pointer = pointer_of(found->address + number_of(pointer) - number_of(found->registered));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
    return call([&](Client& client) {
        Allocation* found = client.allocations.around(number_of(pointer));
        if (!found) found = registered_around(client, pointer);
        if (!found || found->kind != Memory::kPinned) return cudaErrorInvalidValue;
        *flags = found->flags;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
    return call([&](Client& client) {
        Device& device = client.device();
        *total = static_cast<std::size_t>(device.number("totalGlobalMem"));
        *free_bytes = *total - device.used_bytes;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return call([&](Client& client) {
        if (!attributes) return cudaErrorInvalidValue;
        *attributes = {};
        auto place = const_cast<void*>(pointer);
        Allocation* found = client.allocations.around(number_of(pointer));
        if (!found) found = registered_around(client, pointer);
        if (!found) {
            attributes->device = -2;  // cudaInvalidDeviceId
            attributes->hostPointer = place;
            return cudaSuccess;
        }
        attributes->device = found->device;
        attributes->devicePointer = place;
        attributes->type = found->kind == Memory::kManaged  ? cudaMemoryTypeManaged
                           : found->kind == Memory::kPinned ? cudaMemoryTypeHost
                                                            : cudaMemoryTypeDevice;
        if (!found->is_device_only()) attributes->hostPointer = place;
        if (found->registered)
            attributes->devicePointer =
                pointer_of(found->address + number_of(pointer) - number_of(found->registered));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation,
                                             unsigned, cudaStream_t handle) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        Allocation* found = client.allocations.around(number_of(pointer));
        if (!found || found->kind != Memory::kManaged) return cudaErrorInvalidValue;
        return client.submit(stream, PrefetchWork{number_of(pointer), bytes});
    });
}

// Advice is about where pages lie; every byte of the arena lies where it is needed.
RUNTIME_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t, int, cudaMemLocation) {
    return call([&](Client& client) {
        Allocation* found = client.allocations.around(number_of(pointer));
        return found && found->kind == Memory::kManaged ? cudaSuccess : cudaErrorInvalidValue;
    });
}

RUNTIME_API cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t bytes, int, const void* pointer,
                                                 std::size_t) {
    return call([&](Client& client) {
        Allocation* found = client.allocations.around(number_of(pointer));
        if (!found || found->kind != Memory::kManaged) return cudaErrorInvalidValue;
        std::memset(data, 0, bytes);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* bytes, int* attributes,
                                                  std::size_t count, const void* pointer, std::size_t range) {
    for (std::size_t i = 0; i < count; ++i)
        if (cudaError_t error = cudaMemRangeGetAttribute(data[i], bytes[i], attributes[i], pointer, range))
            return error;
    return cudaSuccess;
}

}  // namespace warpwatt::runtime
