// Event management.
#include "runtime/api.h"
#include "runtime/call.h"

namespace warpwatt::runtime {

namespace {

template <typename Body>
cudaError_t call_with(cudaEvent_t handle, Body&& body) {
    return call([&](Client& client) {
        Event* event = client.events.find(handle);
        return event ? body(client, *event) : cudaErrorInvalidResourceHandle;
    });
}

}  // namespace

RUNTIME_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
    return call([&](Client& client) {
        if (!handle) return cudaErrorInvalidValue;
        *handle =
            client.events.add({++client.last_number, client.device_number(), flags, false, nullptr, {}});
        client.connection.send(message::Type::kEventCreate, message::Event{(*handle)->number});
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaEventCreate(cudaEvent_t* handle) { return cudaEventCreateWithFlags(handle, 0); }

RUNTIME_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    return call_with(handle, [](Client& client, Event& event) {
        client.connection.send(message::Type::kEventDestroy, message::Event{event.number});
        client.events.remove(&event);
        return cudaSuccess;
    });
}

// `flags` of 1 (cudaEventRecordExternal) make a node of it in a graph.
RUNTIME_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream_handle,
                                                 unsigned flags) {
    return call_with(handle, [&](Client& client, Event& event) {
        Stream* stream = client.stream(stream_handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (flags) return client.submit(*stream, EventRecordWork{&event});
        event.capture = stream->capture;
        event.nodes = stream->last_nodes;
        return stream->capture ? cudaSuccess : client.perform(*stream, EventRecordWork{&event});
    });
}

RUNTIME_API cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
    return cudaEventRecordWithFlags(handle, stream, 0);
}

RUNTIME_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
    return call_with(handle, [](Client& client, Event& event) {
        if (event.capture) return cudaErrorCapturedEvent;
        if (!event.is_recorded) return cudaSuccess;
        return client.ask(message::Type::kEventQuery, message::Event{event.number});
    });
}

RUNTIME_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
    return call_with(handle, [](Client& client, Event& event) {
        if (event.capture) return cudaErrorCapturedEvent;
        if (!event.is_recorded) return cudaSuccess;
        return client.ask(message::Type::kEventSynchronize, message::Event{event.number});
    });
}

RUNTIME_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return call_with(start, [&](Client& client, Event& first) {
        Event* second = client.events.find(end);
        bool are_timed = second && !((first.flags | second->flags) & kEventDisableTiming);
        if (!are_timed || !first.is_recorded || !second->is_recorded) return cudaErrorInvalidResourceHandle;
        if (!milliseconds) return cudaErrorInvalidValue;
        Answer answer = client.connection.request(message::Type::kEventElapsed,
                                                  message::EventElapsed{first.number, second->number});
        *milliseconds = static_cast<float>(answer.record<message::EventElapsedReply>().milliseconds);
        return static_cast<cudaError_t>(answer.error);
    });
}

RUNTIME_API cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}

}  // namespace warpwatt::runtime
