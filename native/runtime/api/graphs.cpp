// Graph management: graphs and their nodes.
#include <algorithm>

#include "runtime/api.h"
#include "runtime/api/graph_nodes.h"
#include "runtime/call.h"
#include "runtime/graph.h"
#include "runtime/graph_memory.h"

namespace warpwatt::runtime {

namespace {

using Nodes = const cudaGraphNode_t*;

template <typename Body>
cudaError_t call_with(cudaGraph_t handle, Body&& body) {
    return call([&](Client& client) {
        Graph* graph = client.graphs.find(handle);
        return graph ? body(client, *graph) : cudaErrorInvalidValue;
    });
}

// `fill` makes the node's work, or says what is wrong.
template <typename Kind, typename Fill>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t handle, Nodes dependencies, std::size_t count,
                     Kind work, Fill&& fill) {
    return call_with(handle, [&](Client& client, Graph& graph) {
        if (!node || (count && !dependencies)) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i)
            if (!graph.contains(dependencies[i])) return cudaErrorInvalidValue;
        if (cudaError_t error = fill(client, &work)) return error;
        *node = &graph.add(std::move(work), {dependencies, dependencies + count});
        return cudaSuccess;
    });
}

template <typename Kind>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies, std::size_t count,
                     Kind work) {
    return add_node(node, graph, dependencies, count, work, [](Client&, Kind*) { return cudaSuccess; });
}

// Gives as many as there is room for, or how many there are.
cudaError_t list(const std::vector<GraphNode*>& found, cudaGraphNode_t* nodes, std::size_t* count) {
    if (!count) return cudaErrorInvalidValue;
    if (nodes) {
        std::size_t given = std::min(*count, found.size());
        std::copy_n(found.begin(), given, nodes);
        std::fill(nodes + given, nodes + *count, nullptr);
    }
    *count = found.size();
    return cudaSuccess;
}

std::vector<GraphNode*> nodes_of(const Graph& graph, auto&& is_wanted) {
    std::vector<GraphNode*> found;
    for (auto& node : graph.nodes)
        if (is_wanted(*node)) found.push_back(node.get());
    return found;
}

}  // namespace

RUNTIME_API cudaError_t cudaGraphCreate(cudaGraph_t* handle, unsigned) {
    return call([&](Client& client) {
        *handle = client.graphs.add({});
        (*handle)->number = static_cast<unsigned>(++client.last_number);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
    return call_with(handle, [](Client& client, Graph& graph) {
        client.graphs.remove(&graph);
        return cudaSuccess;
    });
}

// A handle is the address of its value, which kernels write with cudaGraphSetConditional.
RUNTIME_API cudaError_t cudaGraphConditionalHandleCreate(std::uint64_t* handle, cudaGraph_t graph_handle,
                                                         unsigned initial, unsigned flags) {
    constexpr unsigned kAssignDefault = 1;  // cudaGraphCondAssignDefault
    return call_with(graph_handle, [&](Client& client, Graph& graph) {
        if (!handle || flags > kAssignDefault) return cudaErrorInvalidValue;
        *handle = client.allocate(sizeof initial, message::Memory::kDevice);
        if (!*handle) return cudaErrorMemoryAllocation;
        if (flags) graph.conditions.push_back({*handle, initial});
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphConditionalHandleCreate_v2(std::uint64_t* handle, cudaGraph_t graph,
                                                            const void*, unsigned initial, unsigned flags) {
    return cudaGraphConditionalHandleCreate(handle, graph, initial, flags);
}

RUNTIME_API cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t handle) {
    return call_with(handle, [&](Client& client, Graph& graph) {
        *clone = client.graphs.add(std::move(*graph.clone()));
        for (auto& node : (*clone)->nodes) node->graph = *clone;
        (*clone)->number = static_cast<unsigned>(++client.last_number);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                         const cudaGraphEdgeData*, std::size_t count,
                                         NodeParameters* parameters) {
    return add_node(node, graph, dependencies, count, Work(EmptyWork{}), [&](Client& client, Work* work) {
        cudaError_t error = work_of(client, *parameters, work);
        if (auto allocation = std::get_if<AllocateWork>(work)) parameters->allocate = allocation->parameters;
        if (auto choice = std::get_if<ConditionalWork>(work))
            parameters->conditional.bodies = choice->bodies.data();
        return error;
    });
}

RUNTIME_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                               std::size_t count, const cudaKernelNodeParams* parameters) {
    return add_node(node, graph, dependencies, count, KernelWork{},
                    [&](Client& client, KernelWork* work) { return kernel_work(client, *parameters, work); });
}

RUNTIME_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                               std::size_t count, const cudaMemcpy3DParms* parameters) {
    return add_node(node, graph, dependencies, count, CopyWork{},
                    [&](Client& client, CopyWork* work) { return copy_work(client, *parameters, work); });
}

RUNTIME_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                                 std::size_t count, void* to, const void* from,
                                                 std::size_t bytes, cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count, CopyWork{}, [&](Client& client, CopyWork* work) {
        return copy_work(client, to, from, bytes, kind, work);
    });
}

RUNTIME_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                       Nodes dependencies, std::size_t count,
                                                       const void* symbol, const void* from,
                                                       std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count, CopyWork{}, [&](Client& client, CopyWork* work) {
        return symbol_work(client, symbol, const_cast<void*>(from), bytes, offset, kind, true, work);
    });
}

RUNTIME_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                         Nodes dependencies, std::size_t count, void* to,
                                                         const void* symbol, std::size_t bytes,
                                                         std::size_t offset, cudaMemcpyKind kind) {
    return add_node(node, graph, dependencies, count, CopyWork{}, [&](Client& client, CopyWork* work) {
        return symbol_work(client, symbol, to, bytes, offset, kind, false, work);
    });
}

RUNTIME_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                               std::size_t count, const cudaMemsetParams* parameters) {
    return add_node(node, graph, dependencies, count, FillWork{},
                    [&](Client& client, FillWork* work) { return fill_work(client, *parameters, work); });
}

RUNTIME_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                             std::size_t count, const cudaHostNodeParams* parameters) {
    return add_node(node, graph, dependencies, count, HostWork{parameters->fn, parameters->userData});
}

RUNTIME_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                   Nodes dependencies, std::size_t count, cudaGraph_t child) {
    return add_node(node, graph, dependencies, count, ChildWork{child}, [](Client& client, ChildWork* work) {
        return client.graphs.find(work->graph) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

RUNTIME_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                              std::size_t count) {
    return add_node(node, graph, dependencies, count, EmptyWork{});
}

RUNTIME_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    Nodes dependencies, std::size_t count,
                                                    cudaEvent_t event) {
    return add_node(node, graph, dependencies, count, EventRecordWork{event});
}

RUNTIME_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  Nodes dependencies, std::size_t count, cudaEvent_t event) {
    return add_node(node, graph, dependencies, count, EventWaitWork{event});
}

RUNTIME_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                                 std::size_t count, cudaMemAllocNodeParams* parameters) {
    AllocateWork work{0, parameters->bytesize, *parameters};
    return add_node(node, graph, dependencies, count, work, [&](Client& client, AllocateWork* made) {
        cudaError_t error = allocate_in_graph(client, made);
        parameters->dptr = pointer_of(made->address);
        return error;
    });
}

RUNTIME_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, Nodes dependencies,
                                                std::size_t count, void* pointer) {
    return add_node(node, graph, dependencies, count, FreeWork{number_of(pointer)});
}

RUNTIME_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (!node) return note(cudaErrorInvalidValue);
    return call_with(node->graph, [&](Client&, Graph& graph) {
        for (auto& other : graph.nodes) std::erase(other->dependencies, node);
        std::erase_if(graph.nodes, [&](auto& own) { return own.get() == node; });
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
    return call_with(handle, [&](Client&, Graph& graph) {
        return list(nodes_of(graph, [](const GraphNode&) { return true; }), nodes, count);
    });
}

RUNTIME_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                              std::size_t* count) {
    return call_with(handle, [&](Client&, Graph& graph) {
        return list(nodes_of(graph, [](const GraphNode& node) { return node.dependencies.empty(); }), nodes,
                    count);
    });
}

RUNTIME_API cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                          cudaGraphEdgeData* data, std::size_t* count) {
    return call_with(handle, [&](Client&, Graph& graph) {
        std::vector<GraphNode*> starts, ends;
        for (auto& node : graph.nodes)
            for (GraphNode* dependency : node->dependencies) {
                starts.push_back(dependency);
                ends.push_back(node.get());
            }
        if (data) std::fill_n(data, std::min(*count, starts.size()), cudaGraphEdgeData{});
        std::size_t room = *count;
        if (cudaError_t error = list(starts, from, count)) return error;
        return list(ends, to, to ? &room : count);
    });
}

RUNTIME_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                                     cudaGraphEdgeData* data, std::size_t* count) {
    return call([&](Client&) {
        if (!node) return cudaErrorInvalidValue;
        if (data) std::fill_n(data, *count, cudaGraphEdgeData{});
        return list(node->dependencies, dependencies, count);
    });
}

RUNTIME_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                                       cudaGraphEdgeData* data, std::size_t* count) {
    return call([&](Client&) {
        if (!node) return cudaErrorInvalidValue;
        if (data) std::fill_n(data, *count, cudaGraphEdgeData{});
        auto depends = [&](const GraphNode& other) {
            return std::ranges::count(other.dependencies, node) > 0;
        };
        return list(nodes_of(*node->graph, depends), dependents, count);
    });
}

RUNTIME_API cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, Nodes from, Nodes to,
                                                 const cudaGraphEdgeData*, std::size_t count) {
    return call_with(handle, [&](Client&, Graph& graph) {
        for (std::size_t i = 0; i < count; ++i) {
            if (!graph.contains(from[i]) || !graph.contains(to[i])) return cudaErrorInvalidValue;
            to[i]->dependencies.push_back(from[i]);
        }
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, Nodes from, Nodes to,
                                                    const cudaGraphEdgeData*, std::size_t count) {
    return call_with(handle, [&](Client&, Graph& graph) {
        for (std::size_t i = 0; i < count; ++i)
            if (!graph.contains(to[i]) || !std::erase(to[i]->dependencies, from[i]))
                return cudaErrorInvalidValue;
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int* type) {
    return call([&](Client&) {
        if (!node || !type) return cudaErrorInvalidValue;
        *type = static_cast<int>(type_of(node->work));
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                                 cudaGraph_t clone) {
    return call_with(clone, [&](Client&, Graph& graph) {
        *found = graph.clone_of(original);
        return *found ? cudaSuccess : cudaErrorInvalidValue;
    });
}

RUNTIME_API cudaError_t cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
    if (!node) return note(cudaErrorInvalidValue);
    *graph = node->graph;
    return cudaSuccess;
}

RUNTIME_API cudaError_t cudaGraphNodeGetLocalId(cudaGraphNode_t node, unsigned* number) {
    if (!node) return note(cudaErrorInvalidValue);
    *number = node->number;
    return cudaSuccess;
}

RUNTIME_API cudaError_t cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long* number) {
    if (!node) return note(cudaErrorInvalidValue);
    *number = number_of(node);
    return cudaSuccess;
}

RUNTIME_API cudaError_t cudaGraphGetId(cudaGraph_t handle, unsigned* number) {
    return call_with(handle, [&](Client&, Graph& graph) {
        *number = graph.number;
        return cudaSuccess;
    });
}

}  // namespace warpwatt::runtime
