// Stream management: capture into graphs.
#include <algorithm>

#include "runtime/api.h"
#include "runtime/call.h"
#include "runtime/graph.h"

namespace warpwatt::runtime {

namespace {

cudaError_t begin(Client& client, Stream& stream, Graph* graph) {
    if (stream.number == 0) return cudaErrorStreamCaptureUnsupported;
    if (stream.capture) return cudaErrorIllegalState;
    stream.capture = std::make_shared<Capture>(graph, &stream, ++client.last_number);
    stream.last_nodes.clear();
    return cudaSuccess;
}

// Whether a node is one of `ends` or comes before one.
bool comes_before(const GraphNode* node, const std::vector<GraphNode*>& ends) {
    return std::ranges::any_of(
        ends, [&](const GraphNode* end) { return end == node || comes_before(node, end->dependencies); });
}

// Ends the capture in every stream that joined it. Returns whether the origin waits for all of them.
bool end_everywhere(Client& client, const std::shared_ptr<Capture>& capture) {
    std::vector<GraphNode*> ends = capture->origin->last_nodes;
    bool is_joined = true;
    client.streams.for_each([&](Stream& stream) {
        if (stream.capture != capture) return;
        for (GraphNode* node : stream.last_nodes) is_joined = is_joined && comes_before(node, ends);
        stream.capture = nullptr;
        stream.last_nodes.clear();
    });
    client.events.for_each([&](Event& event) {
        if (event.capture == capture) event.capture = nullptr;
    });
    return is_joined;
}

}  // namespace

RUNTIME_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, int) {
    return call_in(handle, [](Client& client, Stream& stream) {
        Graph* graph = client.graphs.add({});
        graph->number = static_cast<unsigned>(++client.last_number);
        return begin(client, stream, graph);
    });
}

RUNTIME_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph_handle,
                                                      const cudaGraphNode_t* dependencies,
                                                      const cudaGraphEdgeData*, std::size_t count, int) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        Graph* graph = client.graphs.find(graph_handle);
        if (!graph) return cudaErrorInvalidValue;
        if (cudaError_t error = begin(client, stream, graph)) return error;
        if (count) stream.last_nodes.assign(dependencies, dependencies + count);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    return call_in(handle, [&](Client& client, Stream& stream) {
        if (!stream.capture) return cudaErrorIllegalState;
        std::shared_ptr<Capture> capture = stream.capture;
        if (capture->origin != &stream) return cudaErrorStreamCaptureUnmatched;
        if (graph) *graph = capture->graph;
        if (end_everywhere(client, capture)) return cudaSuccess;
        client.graphs.remove(capture->graph);
        if (graph) *graph = nullptr;
        return cudaErrorStreamCaptureUnjoined;
    });
}

RUNTIME_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
    return call_in(handle, [&](Client&, Stream& stream) {
        *status = stream.capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                                 unsigned long long* number, cudaGraph_t* graph,
                                                 const cudaGraphNode_t** dependencies,
                                                 const cudaGraphEdgeData** edges, std::size_t* count) {
    return call_in(handle, [&](Client&, Stream& stream) {
        *status = stream.capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
        if (!stream.capture) return cudaSuccess;
        if (number) *number = stream.capture->number;
        if (graph) *graph = stream.capture->graph;
        if (dependencies) *dependencies = stream.last_nodes.data();
        if (edges) *edges = nullptr;
        if (count) *count = stream.last_nodes.size();
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                            cudaGraphNode_t* dependencies,
                                                            const cudaGraphEdgeData*, std::size_t count,
                                                            unsigned flags) {
    constexpr unsigned kSet = 1;  // cudaStreamSetCaptureDependencies
    return call_in(handle, [&](Client&, Stream& stream) {
        if (!stream.capture) return cudaErrorIllegalState;
        if (flags & kSet) stream.last_nodes.clear();
        stream.last_nodes.insert(stream.last_nodes.end(), dependencies, dependencies + count);
        return cudaSuccess;
    });
}

// Calls that may not be made during a capture are not told apart by thread.
RUNTIME_API cudaError_t cudaThreadExchangeStreamCaptureMode(int*) { return cudaSuccess; }

}  // namespace warpwatt::runtime
