// Memory management: arrays, which are rows of the arena, and copies from and to them.
#include <algorithm>

#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/copies.h"

namespace warpwatt::runtime {

namespace {

constexpr std::size_t kRowAlignment = 32;

std::size_t pitch_of(const Array& array) {
    return (array.extent.width * array.element_bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

// A level of a mipmapped array, from its memory at `address`.
Array level_of(const Array& whole, unsigned level, std::uint64_t address) {
    auto halved = [&](std::size_t size) { return size ? std::max<std::size_t>(size >> level, 1) : 0; };
    Array found = whole;
    found.levels = 1;
    found.is_level = true;
    bool has_layers = whole.flags & (kArrayLayered | kArrayCubemap);
    found.extent = {halved(whole.extent.width), halved(whole.extent.height),
                    has_layers ? whole.extent.depth : halved(whole.extent.depth)};
    found.address = address;
    found.pitch = pitch_of(found);
    return found;
}

std::size_t bytes_of(const Array& array) { return array.slice() * array.slices(); }

std::size_t bytes_of_levels(const Array& array, unsigned levels) {
    std::size_t sum = 0;
    for (unsigned level = 0; level < levels; ++level) sum += bytes_of(level_of(array, level, 0));
    return sum;
}

cudaError_t allocate(cudaArray_t* handle, const cudaChannelFormatDesc* channels, const cudaExtent& extent,
                     unsigned levels, unsigned flags) {
    return call([&](Client& client) {
        if (!handle || !channels || !extent.width || !levels) return cudaErrorInvalidValue;
        Array array{*channels, extent, flags, levels, 0, 0, client.device_number(), false};
        if (array.element_bytes() == 0) return cudaErrorInvalidChannelDescriptor;
        array.pitch = pitch_of(array);
        array.address = client.allocate(bytes_of_levels(array, levels), message::Memory::kArray);
        if (!array.address) return cudaErrorMemoryAllocation;
        *handle = client.arrays.add(array);
        return cudaSuccess;
    });
}

cudaError_t free_array(cudaArray_t handle) {
    return call([&](Client& client) {
        if (!handle) return cudaSuccess;
        Array* array = client.arrays.find(handle);
        if (!array || array->is_level) return cudaErrorInvalidValue;
        cudaError_t error = client.free(array->address);
        client.arrays.remove(array);
        return error;
    });
}

template <typename Body>
cudaError_t copy(cudaArray_t handle, cudaStream_t stream_handle, Body&& body) {
    return call_in(stream_handle, [&](Client& client, Stream& stream) {
        Array* array = client.arrays.find(handle);
        return array ? submit_copy(client, stream, body(*array)) : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t copy_2d_to(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind, bool asynchronous,
                       cudaStream_t stream) {
    return copy(to, stream, [&](const Array& array) -> CopyWork {
        return {rows_of(array, x, y, 0), pitched(from, pitch), width, height, 1, kind, asynchronous};
    });
}

cudaError_t copy_2d_from(void* to, std::size_t pitch, cudaArray_t from, std::size_t x, std::size_t y,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, bool asynchronous,
                         cudaStream_t stream) {
    return copy(from, stream, [&](const Array& array) -> CopyWork {
        return {pitched(to, pitch), rows_of(array, x, y, 0), width, height, 1, kind, asynchronous};
    });
}

// The deprecated linear copies: whole rows, or a part of one.
cudaError_t copy_linear(cudaArray_t handle, std::size_t x, std::size_t y, void* host, std::size_t bytes,
                        cudaMemcpyKind kind, bool to_array, bool asynchronous, cudaStream_t stream) {
    return copy(handle, stream, [&](const Array& array) -> CopyWork {
        std::size_t row = array.extent.width * array.element_bytes();
        std::size_t width = std::min(bytes, row), height = std::max<std::size_t>(bytes / row, 1);
        Rows inside = rows_of(array, x, y, 0), outside = pitched(host, row);
        return {
            to_array ? inside : outside, to_array ? outside : inside, width, height, 1, kind, asynchronous};
    });
}

}  // namespace

RUNTIME_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return {x, y, z, w, kind};
}

RUNTIME_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_t handle) {
    return call([&](Client& client) {
        Array* array = client.arrays.find(handle);
        if (!array) return cudaErrorInvalidResourceHandle;
        *channels = array->channels;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                                         cudaArray_t handle) {
    return call([&](Client& client) {
        Array* array = client.arrays.find(handle);
        if (!array) return cudaErrorInvalidResourceHandle;
        if (channels) *channels = array->channels;
        if (extent) *extent = array->extent;
        if (flags) *flags = array->flags;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* found, cudaArray_t handle,
                                                       int) {
    return call([&](Client& client) {
        Array* array = client.arrays.find(handle);
        if (!array) return cudaErrorInvalidResourceHandle;
        *found = {bytes_of_levels(*array, array->levels), Arena::kAlignment, {}};
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* found,
                                                                cudaMipmappedArray_t array, int device) {
    return cudaArrayGetMemoryRequirements(found, array, device);
}

// Formats of several planes are not there: an array is its only plane.
RUNTIME_API cudaError_t cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t array, unsigned index) {
    if (index) return note(cudaErrorInvalidValue);
    *plane = array;
    return cudaSuccess;
}

RUNTIME_API cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                        std::size_t width, std::size_t height, unsigned flags) {
    return allocate(array, channels, {width, height, 0}, 1, flags);
}

RUNTIME_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                          cudaExtent extent, unsigned flags) {
    return allocate(array, channels, extent, 1, flags);
}

RUNTIME_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                                 const cudaChannelFormatDesc* channels, cudaExtent extent,
                                                 unsigned levels, unsigned flags) {
    return allocate(array, channels, extent, levels, flags);
}

RUNTIME_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* handle, cudaMipmappedArray_t whole_handle,
                                                   unsigned level) {
    return call([&](Client& client) {
        Array* whole = client.arrays.find(whole_handle);
        if (!whole || level >= whole->levels) return cudaErrorInvalidValue;
        *handle = client.arrays.add(level_of(*whole, level, whole->address + bytes_of_levels(*whole, level)));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaFreeArray(cudaArray_t array) { return free_array(array); }
RUNTIME_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) { return free_array(array); }

RUNTIME_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                            std::size_t pitch, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind) {
    return copy_2d_to(to, x, y, from, pitch, width, height, kind, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y,
                                                 const void* from, std::size_t pitch, std::size_t width,
                                                 std::size_t height, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
    return copy_2d_to(to, x, y, from, pitch, width, height, kind, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_t from, std::size_t x,
                                              std::size_t y, std::size_t width, std::size_t height,
                                              cudaMemcpyKind kind) {
    return copy_2d_from(to, pitch, from, x, y, width, height, kind, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_t from,
                                                   std::size_t x, std::size_t y, std::size_t width,
                                                   std::size_t height, cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
    return copy_2d_from(to, pitch, from, x, y, width, height, kind, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                                 cudaArray_t from, std::size_t from_x, std::size_t from_y,
                                                 std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return call([&](Client& client) {
        Array *source = client.arrays.find(from), *destination = client.arrays.find(to);
        if (!source || !destination) return cudaErrorInvalidResourceHandle;
        return submit_copy(client, client.default_stream,
                           {rows_of(*destination, to_x, to_y, 0), rows_of(*source, from_x, from_y, 0), width,
                            height, 1, kind, false});
    });
}

RUNTIME_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                               cudaArray_t from, std::size_t from_x, std::size_t from_y,
                                               std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, bytes, 1, kind);
}

RUNTIME_API cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                          std::size_t bytes, cudaMemcpyKind kind) {
    return copy_linear(to, x, y, const_cast<void*>(from), bytes, kind, true, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                               std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_linear(to, x, y, const_cast<void*>(from), bytes, kind, true, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_t from, std::size_t x, std::size_t y,
                                            std::size_t bytes, cudaMemcpyKind kind) {
    return copy_linear(from, x, y, to, bytes, kind, false, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_t from, std::size_t x, std::size_t y,
                                                 std::size_t bytes, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
    return copy_linear(from, x, y, to, bytes, kind, false, true, stream);
}

}  // namespace warpwatt::runtime
