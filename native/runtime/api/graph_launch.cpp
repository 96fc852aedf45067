// Graph management: graphs that are ready to be launched.
#include <cstdio>

#include "runtime/api.h"
#include "runtime/api/graph_nodes.h"
#include "runtime/call.h"
#include "runtime/graph.h"

namespace warpwatt::runtime {

namespace {

enum : int {  // cudaGraphExecUpdateResult
    kUpdated = 0,
    kUpdateTopologyChanged = 2,
    kUpdateTypeChanged = 3,
};

template <typename Body>
cudaError_t call_with(cudaGraphExec_t handle, Body&& body) {
    return call([&](Client& client) {
        GraphExec* exec = client.graph_execs.find(handle);
        return exec ? body(client, *exec) : cudaErrorInvalidValue;
    });
}

cudaError_t refuse_update(cudaGraphExecUpdateResultInfo* result, int why, GraphNode* node, GraphNode* from) {
    *result = {why, node, from};
    return cudaErrorGraphExecUpdateFailure;
}

// As many dependencies, on the same nodes in order.
bool has_same_edges(const GraphNode& one, const GraphNode& other) {
    if (one.dependencies.size() != other.dependencies.size()) return false;
    for (std::size_t i = 0; i < one.dependencies.size(); ++i)
        if (one.dependencies[i]->number != other.dependencies[i]->number) return false;
    return true;
}

}  // namespace

RUNTIME_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle, cudaGraph_t graph_handle,
                                             unsigned long long flags) {
    return call([&](Client& client) {
        Graph* graph = client.graphs.find(graph_handle);
        if (!graph || !handle) return cudaErrorInvalidValue;
        GraphExec exec{++client.last_number, flags, graph->clone(), {}};
        exec.order = exec.graph->in_order();
        if (exec.order.size() < graph->nodes.size()) return cudaErrorInvalidValue;
        *handle = client.graph_execs.add(std::move(exec));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                      unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}

RUNTIME_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                       cudaGraphInstantiateParams* parameters) {
    if (!parameters) return note(cudaErrorInvalidValue);
    parameters->errNode_out = nullptr;
    cudaError_t error = cudaGraphInstantiate(exec, graph, parameters->flags);
    parameters->result_out = error != cudaSuccess;
    return error;
}

RUNTIME_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
    return call_with(handle, [](Client& client, GraphExec& exec) {
        client.graph_execs.remove(&exec);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t) {
    return call_with(handle, [](Client&, GraphExec&) { return cudaSuccess; });
}

RUNTIME_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
    return call_with(handle, [&](Client& client, GraphExec& exec) {
        Stream* stream = client.stream(stream_handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (stream->capture) return client.submit(*stream, ChildWork{exec.graph.get()});
        return client.launch_graph(exec, *stream);
    });
}

RUNTIME_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                            cudaGraphExecUpdateResultInfo* result) {
    return call_with(handle, [&](Client& client, GraphExec& exec) {
        cudaGraphExecUpdateResultInfo unused;
        if (!result) result = &unused;
        if (!client.graphs.find(graph)) return cudaErrorInvalidValue;
        auto &ours = exec.graph->nodes, &theirs = graph->nodes;
        if (ours.size() != theirs.size())
            return refuse_update(result, kUpdateTopologyChanged, nullptr, nullptr);
        for (std::size_t i = 0; i < ours.size(); ++i) {
            if (type_of(ours[i]->work) != type_of(theirs[i]->work))
                return refuse_update(result, kUpdateTypeChanged, theirs[i].get(), nullptr);
            if (!has_same_edges(*ours[i], *theirs[i]))
                return refuse_update(result, kUpdateTopologyChanged, theirs[i].get(), nullptr);
        }
        std::unique_ptr<Graph> updated = graph->clone();
        for (std::size_t i = 0; i < ours.size(); ++i) ours[i]->work = updated->nodes[i]->work;
        for (auto& child : updated->children) exec.graph->children.push_back(std::move(child));
        *result = {kUpdated, nullptr, nullptr};
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
    return call_with(handle, [&](Client&, GraphExec& exec) {
        *flags = exec.flags;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphExecGetId(cudaGraphExec_t handle, unsigned* number) {
    return call_with(handle, [&](Client&, GraphExec& exec) {
        *number = static_cast<unsigned>(exec.number);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                unsigned is_enabled) {
    return call_with(handle, [&](Client&, GraphExec& exec) {
        GraphNode* found = exec.graph->clone_of(node);
        if (!found) return cudaErrorInvalidValue;
        found->enabled = is_enabled;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                unsigned* is_enabled) {
    return call_with(handle, [&](Client&, GraphExec& exec) {
        GraphNode* found = exec.graph->clone_of(node);
        if (!found) return cudaErrorInvalidValue;
        *is_enabled = found->enabled;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned) {
    return call([&](Client& client) {
        Graph* graph = client.graphs.find(handle);
        std::FILE* file = graph ? std::fopen(path, "w") : nullptr;
        if (!file) return cudaErrorInvalidValue;
        std::fprintf(file, "digraph {\n");
        for (auto& node : graph->nodes) {
            auto kernel = std::get_if<KernelWork>(&node->work);
            std::fprintf(file, "  %u [label=\"%s %d\"];\n", node->number,
                         kernel ? kernel->function->name.c_str() : "node of type",
                         static_cast<int>(type_of(node->work)));
            for (const GraphNode* dependency : node->dependencies)
                std::fprintf(file, "  %u -> %u;\n", dependency->number, node->number);
        }
        std::fprintf(file, "}\n");
        std::fclose(file);
        return cudaSuccess;
    });
}

}  // namespace warpwatt::runtime
