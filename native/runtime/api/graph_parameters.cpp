// Graph management: what nodes do, read and changed, in graphs and in those that are ready to be launched.
#include "runtime/api.h"
#include "runtime/api/graph_nodes.h"
#include "runtime/call.h"
#include "runtime/graph.h"

namespace warpwatt::runtime {

namespace {

// The node's work of one kind; another kind is an error.
template <typename Kind, typename Body>
cudaError_t call_with(cudaGraphNode_t node, Body&& body) {
    return call([&](Client& client) {
        Kind* work = node ? std::get_if<Kind>(&node->work) : nullptr;
        return work ? body(client, work) : cudaErrorInvalidValue;
    });
}

// The same, of the node's clone in a graph that is ready to be launched.
template <typename Kind, typename Body>
cudaError_t call_with(cudaGraphExec_t handle, cudaGraphNode_t node, Body&& body) {
    return call([&](Client& client) {
        GraphExec* exec = client.graph_execs.find(handle);
        GraphNode* clone = exec ? exec->graph->clone_of(node) : nullptr;
        Kind* work = clone ? std::get_if<Kind>(&clone->work) : nullptr;
        return work ? body(client, work) : cudaErrorInvalidValue;
    });
}

auto set_kernel(const cudaKernelNodeParams* parameters) {
    return [=](Client& client, KernelWork* work) {
        KernelWork changed;
        if (cudaError_t error = kernel_work(client, *parameters, &changed)) return error;
        changed.cooperative = work->cooperative;
        changed.cluster = work->cluster;
        changed.priority = work->priority;
        *work = changed;
        return cudaSuccess;
    };
}
auto set_copy(const cudaMemcpy3DParms* parameters) {
    return [=](Client& client, CopyWork* work) { return copy_work(client, *parameters, work); };
}
auto set_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return [=](Client& client, CopyWork* work) { return copy_work(client, to, from, bytes, kind, work); };
}
auto set_symbol(const void* symbol, void* host, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                bool to_symbol) {
    return [=](Client& client, CopyWork* work) {
        return symbol_work(client, symbol, host, bytes, offset, kind, to_symbol, work);
    };
}
auto set_fill(const cudaMemsetParams* parameters) {
    return [=](Client& client, FillWork* work) { return fill_work(client, *parameters, work); };
}
auto set_host(const cudaHostNodeParams* parameters) {
    return [=](Client&, HostWork* work) {
        *work = {parameters->fn, parameters->userData};
        return cudaSuccess;
    };
}
template <typename Kind>
auto set_event(cudaEvent_t event) {
    return [=](Client& client, Kind* work) {
        work->event = client.events.find(event);
        return work->event ? cudaSuccess : cudaErrorInvalidValue;
    };
}

}  // namespace

RUNTIME_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
    return call_with<KernelWork>(node, [&](Client&, KernelWork* work) {
        show(*node, *work, parameters);
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                     const cudaKernelNodeParams* parameters) {
    return call_with<KernelWork>(node, set_kernel(parameters));
}
RUNTIME_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const cudaKernelNodeParams* parameters) {
    return call_with<KernelWork>(exec, node, set_kernel(parameters));
}

RUNTIME_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute,
                                                        const cudaLaunchAttributeValue* value) {
    return call_with<KernelWork>(node, [&](Client&, KernelWork* work) {
        if (attribute == cudaLaunchAttributeCooperative) work->cooperative = value->number;
        if (attribute == cudaLaunchAttributeClusterDimension) work->cluster = value->clusterDim;
        if (attribute == cudaLaunchAttributePriority) work->priority = value->number;
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute,
                                                        cudaLaunchAttributeValue* value) {
    return call_with<KernelWork>(node, [&](Client&, KernelWork* work) {
        *value = {};
        if (attribute == cudaLaunchAttributeCooperative) value->number = work->cooperative;
        if (attribute == cudaLaunchAttributeClusterDimension) value->clusterDim = work->cluster;
        if (attribute == cudaLaunchAttributePriority) value->number = work->priority;
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    return call_with<KernelWork>(from, [&](Client&, KernelWork* source) {
        return call_with<KernelWork>(to, [&](Client&, KernelWork* work) {
            work->cooperative = source->cooperative;
            work->cluster = source->cluster;
            work->priority = source->priority;
            return cudaSuccess;
        });
    });
}

RUNTIME_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
    return call_with<CopyWork>(node, [&](Client&, CopyWork* work) {
        show(*work, parameters);
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                     const cudaMemcpy3DParms* parameters) {
    return call_with<CopyWork>(node, set_copy(parameters));
}
RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const cudaMemcpy3DParms* parameters) {
    return call_with<CopyWork>(exec, node, set_copy(parameters));
}
RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                                       std::size_t bytes, cudaMemcpyKind kind) {
    return call_with<CopyWork>(node, set_copy(to, from, bytes, kind));
}
RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                           void* to, const void* from, std::size_t bytes,
                                                           cudaMemcpyKind kind) {
    return call_with<CopyWork>(exec, node, set_copy(to, from, bytes, kind));
}
RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                             const void* from, std::size_t bytes,
                                                             std::size_t offset, cudaMemcpyKind kind) {
    return call_with<CopyWork>(node, set_symbol(symbol, const_cast<void*>(from), bytes, offset, kind, true));
}
RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                                 const void* symbol, const void* from,
                                                                 std::size_t bytes, std::size_t offset,
                                                                 cudaMemcpyKind kind) {
    return call_with<CopyWork>(exec, node,
                               set_symbol(symbol, const_cast<void*>(from), bytes, offset, kind, true));
}
RUNTIME_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                               const void* symbol, std::size_t bytes,
                                                               std::size_t offset, cudaMemcpyKind kind) {
    return call_with<CopyWork>(node, set_symbol(symbol, to, bytes, offset, kind, false));
}
RUNTIME_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                                   void* to, const void* symbol,
                                                                   std::size_t bytes, std::size_t offset,
                                                                   cudaMemcpyKind kind) {
    return call_with<CopyWork>(exec, node, set_symbol(symbol, to, bytes, offset, kind, false));
}

RUNTIME_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
    return call_with<FillWork>(node, [&](Client&, FillWork* work) {
        show(*work, parameters);
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                     const cudaMemsetParams* parameters) {
    return call_with<FillWork>(node, set_fill(parameters));
}
RUNTIME_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const cudaMemsetParams* parameters) {
    return call_with<FillWork>(exec, node, set_fill(parameters));
}

RUNTIME_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
    return call_with<HostWork>(node, [&](Client&, HostWork* work) {
        *parameters = {work->function, work->argument};
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                   const cudaHostNodeParams* parameters) {
    return call_with<HostWork>(node, set_host(parameters));
}
RUNTIME_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const cudaHostNodeParams* parameters) {
    return call_with<HostWork>(exec, node, set_host(parameters));
}

RUNTIME_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
    return call_with<ChildWork>(node, [&](Client&, ChildWork* work) {
        *graph = work->graph;
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                             cudaGraph_t child) {
    return call_with<ChildWork>(exec, node, [&](Client& client, ChildWork* work) {
        if (!client.graphs.find(child)) return cudaErrorInvalidValue;
        auto& owner = *client.graph_execs.find(exec)->graph;
        owner.children.push_back(child->clone());
        work->graph = owner.children.back().get();
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
    return call_with<EventRecordWork>(node, [&](Client&, EventRecordWork* work) {
        *event = work->event;
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return call_with<EventRecordWork>(node, set_event<EventRecordWork>(event));
}
RUNTIME_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                             cudaEvent_t event) {
    return call_with<EventRecordWork>(exec, node, set_event<EventRecordWork>(event));
}
RUNTIME_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
    return call_with<EventWaitWork>(node, [&](Client&, EventWaitWork* work) {
        *event = work->event;
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return call_with<EventWaitWork>(node, set_event<EventWaitWork>(event));
}
RUNTIME_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                           cudaEvent_t event) {
    return call_with<EventWaitWork>(exec, node, set_event<EventWaitWork>(event));
}

RUNTIME_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                       cudaMemAllocNodeParams* parameters) {
    return call_with<AllocateWork>(node, [&](Client&, AllocateWork* work) {
        *parameters = work->parameters;
        return cudaSuccess;
    });
}
RUNTIME_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
    return call_with<FreeWork>(node, [&](Client&, FreeWork* work) {
        *static_cast<void**>(pointer) = pointer_of(work->address);
        return cudaSuccess;
    });
}

RUNTIME_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, NodeParameters* parameters) {
    return call([&](Client& client) {
        if (!node || !parameters || parameters->type != static_cast<int>(type_of(node->work)))
            return cudaErrorInvalidValue;
        return work_of(client, *parameters, &node->work);
    });
}
RUNTIME_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                   NodeParameters* parameters) {
    return call([&](Client& client) {
        GraphExec* exec = client.graph_execs.find(handle);
        GraphNode* clone = exec ? exec->graph->clone_of(node) : nullptr;
        if (!clone || !parameters || parameters->type != static_cast<int>(type_of(clone->work)))
            return cudaErrorInvalidValue;
        return work_of(client, *parameters, &clone->work);
    });
}

}  // namespace warpwatt::runtime
