// Memory management: copies and fills.
#include "runtime/copies.h"

#include <algorithm>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

cudaError_t copy(cudaStream_t handle, const CopyWork& work) {
    return call_in(handle, [&](Client& client, Stream& stream) { return submit_copy(client, stream, work); });
}

cudaError_t copy_linear(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, bool asynchronous,
                        cudaStream_t stream) {
    return copy(stream, {linear(to), linear(from), bytes, 1, 1, kind, asynchronous});
}

cudaError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind, bool asynchronous,
                    cudaStream_t stream) {
    if (width > to_pitch || width > from_pitch) return note(cudaErrorInvalidPitchValue);
    return copy(stream,
                {pitched(to, to_pitch), pitched(from, from_pitch), width, height, 1, kind, asynchronous});
}

cudaError_t copy_3d(const cudaMemcpy3DParms* parameters, bool asynchronous, cudaStream_t handle) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        CopyWork work{};
        if (!parameters) return cudaErrorInvalidValue;
        if (cudaError_t error = copy_of(client, *parameters, &work)) return error;
        work.asynchronous = asynchronous;
        return submit_copy(client, stream, work);
    });
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                      bool asynchronous, cudaStream_t stream) {
    return copy(stream, {linear(to), linear(from), bytes, 1, 1, cudaMemcpyDeviceToDevice, asynchronous,
                         to_device != from_device, from_device, to_device});
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* peer, bool asynchronous, cudaStream_t stream) {
    if (!peer) return note(cudaErrorInvalidValue);
    cudaMemcpy3DParms parameters{peer->srcArray, peer->srcPos, peer->srcPtr, peer->dstArray,
                                 peer->dstPos,   peer->dstPtr, peer->extent, cudaMemcpyDefault};
    return copy_3d(&parameters, asynchronous, stream);
}

cudaError_t fill(cudaStream_t handle, const Rows& to, int value, std::size_t width, std::size_t height,
                 std::size_t depth, bool asynchronous) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        auto byte = static_cast<std::uint32_t>(value & 0xff);
        return submit_fill(client, stream, {to, width, height, depth, byte, 1, asynchronous});
    });
}

cudaError_t fill_3d(const cudaPitchedPtr& to, int value, const cudaExtent& extent, bool asynchronous,
                    cudaStream_t stream) {
    Rows rows{number_of(to.ptr), to.pitch, to.pitch * to.ysize};
    return fill(stream, rows, value, extent.width, extent.height, extent.depth, asynchronous);
}

}  // namespace

RUNTIME_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return copy_linear(to, from, bytes, kind, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                        cudaStream_t stream) {
    return copy_linear(to, from, bytes, kind, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                       std::size_t bytes) {
    return copy_peer(to, to_device, from, from_device, bytes, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                            std::size_t bytes, cudaStream_t stream) {
    return copy_peer(to, to_device, from, from_device, bytes, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                          std::size_t from_pitch, std::size_t width, std::size_t height,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
    return copy_3d(parameters, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
    return copy_3d(parameters, true, stream);
}

RUNTIME_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
    return copy_3d_peer(parameters, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
    return copy_3d_peer(parameters, true, stream);
}

RUNTIME_API cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    return fill(nullptr, linear(to), value, bytes, 1, 1, false);
}

RUNTIME_API cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    return fill(stream, linear(to), value, bytes, 1, 1, true);
}

RUNTIME_API cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                     std::size_t height) {
    return fill(nullptr, pitched(to, pitch), value, width, height, 1, false);
}

RUNTIME_API cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                          std::size_t height, cudaStream_t stream) {
    return fill(stream, pitched(to, pitch), value, width, height, 1, true);
}

RUNTIME_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    return fill_3d(to, value, extent, false, nullptr);
}

RUNTIME_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                          cudaStream_t stream) {
    return fill_3d(to, value, extent, true, stream);
}

}  // namespace warpwatt::runtime
