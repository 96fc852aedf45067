#include "runtime/copies.h"

#include <algorithm>

#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

std::uint64_t last_byte(const Rows& rows, std::size_t width, std::size_t height, std::size_t depth) {
    return rows.address + (depth - 1) * rows.slice + (height - 1) * rows.pitch + width - 1;
}

// Within one allocation, to the granularity at which memory is given out.
bool is_allocated(Client& client, const Rows& rows, std::uint64_t last) {
    if (!client.arena.contains(rows.address)) return true;
    Allocation* found = client.allocations.around(rows.address);
    if (!found) return false;
    std::uint64_t rounded = (found->size + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
    return last - found->address < rounded;
}

cudaMemcpyKind kind_between(Client& client, std::uint64_t to, std::uint64_t from) {
    bool to_device = client.is_device_memory(to), from_device = client.is_device_memory(from);
    if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

}  // namespace

Rows rows_of(const Array& array, std::size_t x_bytes, std::size_t y, std::size_t z) {
    return {array.address + z * array.slice() + y * array.pitch + x_bytes, array.pitch, array.slice()};
}

cudaError_t check_copy(Client& client, CopyWork* work) {
    if (work->bytes() == 0) return cudaSuccess;
    if (work->height > 1 && (work->to.pitch < work->width || work->from.pitch < work->width))
        return cudaErrorInvalidPitchValue;
    if (!work->to.address || !work->from.address) return cudaErrorInvalidValue;
    if (work->kind < cudaMemcpyHostToHost || work->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    bool to_host = work->kind == cudaMemcpyHostToHost || work->kind == cudaMemcpyDeviceToHost;
    bool from_host = work->kind == cudaMemcpyHostToHost || work->kind == cudaMemcpyHostToDevice;
    cudaMemcpyKind found = kind_between(client, work->to.address, work->from.address);
    if (work->kind == cudaMemcpyDefault) work->kind = found;
    // Memory that the host may touch is both; device memory is not the host's, nor the host's the device's.
    if (to_host && client.is_device_memory(work->to.address)) return cudaErrorInvalidValue;
    if (from_host && client.is_device_memory(work->from.address)) return cudaErrorInvalidValue;
    if (work->kind == cudaMemcpyHostToDevice && !client.arena.contains(work->to.address))
        return cudaErrorInvalidValue;
    if (work->kind == cudaMemcpyDeviceToHost && !client.arena.contains(work->from.address))
        return cudaErrorInvalidValue;
    bool fits =
        is_allocated(client, work->to, last_byte(work->to, work->width, work->height, work->depth)) &&
        is_allocated(client, work->from, last_byte(work->from, work->width, work->height, work->depth));
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t check_fill(Client& client, const FillWork& work) {
    if (work.bytes() == 0) return cudaSuccess;
    if (!client.arena.contains(work.to.address)) return cudaErrorInvalidValue;
    if (work.height > 1 && work.to.pitch < work.width) return cudaErrorInvalidPitchValue;
    bool fits = is_allocated(client, work.to, last_byte(work.to, work.width, work.height, work.depth));
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t submit_copy(Client& client, Stream& stream, CopyWork work) {
    cudaError_t error = check_copy(client, &work);
    if (error || work.bytes() == 0) return error;
    if (!work.between_peers) work.device = work.destination_device = stream.device;
    return client.submit(stream, work);
}

cudaError_t submit_fill(Client& client, Stream& stream, FillWork work) {
    cudaError_t error = check_fill(client, work);
    return error || work.bytes() == 0 ? error : client.submit(stream, work);
}

cudaError_t copy_of(Client& client, const cudaMemcpy3DParms& parameters, CopyWork* work) {
    Array *from = client.arrays.find(parameters.srcArray), *to = client.arrays.find(parameters.dstArray);
    if ((parameters.srcArray && !from) || (parameters.dstArray && !to)) return cudaErrorInvalidResourceHandle;
    // Extents and positions are in elements where an array takes part, else in bytes.
    std::size_t element = from ? from->element_bytes() : to ? to->element_bytes() : 1;
    auto rows = [&](Array* array, const cudaPitchedPtr& pitched, const cudaPos& at) -> Rows {
        if (array) return rows_of(*array, at.x * element, at.y, at.z);
        std::size_t slice = pitched.pitch * pitched.ysize;
        std::size_t offset = at.z * slice + at.y * pitched.pitch + at.x;
        return {number_of(pitched.ptr) + offset, pitched.pitch, slice};
    };
    work->from = rows(from, parameters.srcPtr, parameters.srcPos);
    work->to = rows(to, parameters.dstPtr, parameters.dstPos);
    work->width = parameters.extent.width * element;
    work->height = std::max<std::size_t>(parameters.extent.height, 1);
    work->depth = std::max<std::size_t>(parameters.extent.depth, 1);
    work->kind = parameters.kind;
    return cudaSuccess;
}

}  // namespace warpwatt::runtime
