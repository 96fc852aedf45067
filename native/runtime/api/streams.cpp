// Stream management.
#include <cstring>

#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

template <typename T>
cudaError_t give(cudaStream_t handle, T* place, T (*value)(const Stream&)) {
    return call_in(handle, [&](Client&, Stream& stream) {
        if (!place) return cudaErrorInvalidValue;
        *place = value(stream);
        return cudaSuccess;
    });
}

}  // namespace

RUNTIME_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    return call([&](Client& client) {
        if (!stream || flags > kStreamNonBlocking) return cudaErrorInvalidValue;
        *stream = client.add_stream(flags, priority);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

RUNTIME_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithPriority(stream, 0, 0);
}

RUNTIME_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    return call([&](Client& client) {
        Stream* stream = client.streams.find(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        client.connection.send(message::Type::kStreamDestroy, message::Stream{stream->number});
        client.streams.remove(stream);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    return call_in(handle, [](Client& client, Stream& stream) {
        if (stream.capture) return cudaErrorStreamCaptureUnsupported;
        auto device = static_cast<std::uint32_t>(stream.device);
        return client.ask(message::Type::kSynchronize, message::Synchronize{stream.number, 0, device});
    });
}

RUNTIME_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
    return call_in(handle, [](Client& client, Stream& stream) {
        if (stream.capture) return cudaErrorStreamCaptureUnsupported;
        return client.ask(message::Type::kStreamQuery, message::Stream{stream.number});
    });
}

RUNTIME_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        Event* event = client.events.find(event_handle);
        if (!event) return cudaErrorInvalidResourceHandle;
        if (event->capture) {
            if (stream.capture && stream.capture != event->capture) return cudaErrorStreamCaptureMerge;
            stream.capture = event->capture;
            stream.last_nodes.insert(stream.last_nodes.end(), event->nodes.begin(), event->nodes.end());
            return cudaSuccess;
        }
        if (stream.capture) return cudaErrorStreamCaptureIsolation;
        return client.perform(stream, EventWaitWork{event});
    });
}

RUNTIME_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback,
                                              void* argument, unsigned) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        return client.submit(stream, CallbackWork{callback, handle, argument});
    });
}

RUNTIME_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
    return give<int>(handle, priority, [](const Stream& stream) { return stream.priority; });
}

RUNTIME_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
    return give<unsigned>(handle, flags, [](const Stream& stream) { return stream.flags; });
}

RUNTIME_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* number) {
    return give<unsigned long long>(handle, number,
                                    [](const Stream& stream) { return 1ULL + stream.number; });
}

RUNTIME_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    return give<int>(handle, device, [](const Stream& stream) { return stream.device; });
}

// Attributes steer caches and scheduling; nothing that is predicted depends on them.
RUNTIME_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, int, const void*) {
    return call_in(handle, [](Client&, Stream&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaStreamGetAttribute(cudaStream_t handle, int, void* value) {
    return call_in(handle, [&](Client&, Stream&) {
        std::memset(value, 0, sizeof(cudaLaunchAttributeValue));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaStreamCopyAttributes(cudaStream_t, cudaStream_t) {
    return call([](Client&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, std::size_t,
                                                 unsigned flags) {
    return call_in(handle, [&](Client& client, Stream&) {
        Allocation* found = client.allocations.around(number_of(pointer));
        if (!found || found->kind != message::Memory::kManaged) return cudaErrorInvalidValue;
        found->flags = flags;
        return cudaSuccess;
    });
}

}  // namespace warpwatt::runtime
