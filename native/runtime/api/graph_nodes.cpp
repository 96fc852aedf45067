#include "runtime/api/graph_nodes.h"

#include <algorithm>

#include "runtime/call.h"
#include "runtime/copies.h"
#include "runtime/graph_memory.h"
#include "runtime/launch.h"

namespace warpwatt::runtime {

cudaError_t kernel_work(Client& client, const cudaKernelNodeParams& parameters, KernelWork* work) {
    Function* function = client.modules.function(parameters.func);
    if (!function) return cudaErrorInvalidDeviceFunction;
    LaunchRequest request{parameters.gridDim,
                          parameters.blockDim,
                          {0, 0, 0},
                          parameters.sharedMemBytes,
                          parameters.kernelParams,
                          false,
                          0};
    return prepare(client, *function, request, work);
}

cudaError_t copy_work(Client& client, const cudaMemcpy3DParms& parameters, CopyWork* work) {
    *work = {};
    if (cudaError_t error = copy_of(client, parameters, work)) return error;
    work->asynchronous = true;
    return check_copy(client, work);
}

cudaError_t copy_work(Client& client, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      CopyWork* work) {
    *work = {linear(to), linear(from), bytes, 1, 1, kind, true};
    return check_copy(client, work);
}

cudaError_t symbol_work(Client& client, const void* symbol, void* host, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind, bool to_symbol, CopyWork* work) {
    Variable* variable = client.modules.variable(symbol);
    if (!variable) return cudaErrorInvalidSymbol;
    client.send_module(*variable->module);
    if (offset > variable->bytes || bytes > variable->bytes - offset) return cudaErrorInvalidValue;
    void* inside = pointer_of(variable->address + offset);
    return copy_work(client, to_symbol ? inside : host, to_symbol ? host : inside, bytes, kind, work);
}

cudaError_t fill_work(Client& client, const cudaMemsetParams& parameters, FillWork* work) {
    std::uint32_t size = parameters.elementSize;
    if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
    std::size_t height = std::max<std::size_t>(parameters.height, 1);
    *work = {pitched(parameters.dst, parameters.pitch),
             parameters.width * size,
             height,
             1,
             parameters.value,
             size,
             true};
    return check_fill(client, *work);
}

void show(GraphNode& node, const KernelWork& work, cudaKernelNodeParams* parameters) {
    auto bytes = const_cast<char*>(work.parameters.data());
    node.arguments.clear();
    for (const message::Parameter& parameter : work.function->parameters)
        node.arguments.push_back(bytes + parameter.offset);
    const void* symbol = work.function->host ? work.function->host : work.function;
    *parameters = {
        const_cast<void*>(symbol), work.grid, work.block, static_cast<unsigned>(work.dynamic_shared_bytes),
        node.arguments.data(),     nullptr};
}

void show(const CopyWork& work, cudaMemcpy3DParms* parameters) {
    auto pointer = [&](const Rows& rows) -> cudaPitchedPtr {
        std::size_t pitch = rows.pitch ? rows.pitch : work.width;
        return {pointer_of(rows.address), pitch, work.width, rows.slice ? rows.slice / pitch : work.height};
    };
    *parameters = {};
    parameters->srcPtr = pointer(work.from);
    parameters->dstPtr = pointer(work.to);
    parameters->extent = {work.width, work.height, work.depth};
    parameters->kind = work.kind;
}

void show(const FillWork& work, cudaMemsetParams* parameters) {
    *parameters = {pointer_of(work.to.address),   work.to.pitch, work.value, work.value_bytes,
                   work.width / work.value_bytes, work.height};
}

NodeType type_of(const Work& work) {
    constexpr NodeType kTypes[] = {NodeType::kKernel,    NodeType::kCopy,       NodeType::kFill,
                                   NodeType::kHost,      NodeType::kHost,       NodeType::kEventRecord,
                                   NodeType::kEventWait, NodeType::kAllocate,   NodeType::kFree,
                                   NodeType::kEmpty,     NodeType::kGraph,      NodeType::kEmpty,
                                   NodeType::kKernel,    NodeType::kConditional};
    static_assert(std::size(kTypes) == std::variant_size_v<Work>);
    return kTypes[work.index()];
}

namespace {

// Empty graphs for the program to fill: as many as the type of a conditional node may have.
cudaError_t add_bodies(Client& client, unsigned count, ConditionalWork* work) {
    unsigned most = work->type == ConditionalWork::kIf ? 2 : work->type == ConditionalWork::kWhile ? 1 : ~0U;
    if (!client.allocations.at(work->handle) || !count || count > most) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; ++i) {
        work->bodies.push_back(client.graphs.add({}));
        work->bodies.back()->number = static_cast<unsigned>(++client.last_number);
    }
    return cudaSuccess;
}

}  // namespace

cudaError_t work_of(Client& client, const NodeParameters& parameters, Work* work) {
    auto make = [&](auto made, auto&& fill) {
        cudaError_t error = fill(&made);
        *work = std::move(made);
        return error;
    };
    switch (static_cast<NodeType>(parameters.type)) {
        case NodeType::kKernel:
            return make(KernelWork{},
                        [&](auto* made) { return kernel_work(client, parameters.kernel, made); });
        case NodeType::kCopy:
            return make(CopyWork{},
                        [&](auto* made) { return copy_work(client, parameters.copy.parameters, made); });
        case NodeType::kFill:
            return make(FillWork{}, [&](auto* made) { return fill_work(client, parameters.fill, made); });
        case NodeType::kHost:
            *work = HostWork{parameters.host.fn, parameters.host.userData};
            return cudaSuccess;
        case NodeType::kGraph:
            *work = ChildWork{parameters.graph};
            return client.graphs.find(parameters.graph) ? cudaSuccess : cudaErrorInvalidValue;
        case NodeType::kEmpty:
            *work = EmptyWork{};
            return cudaSuccess;
        case NodeType::kEventWait:
            *work = EventWaitWork{parameters.event};
            return client.events.find(parameters.event) ? cudaSuccess : cudaErrorInvalidValue;
        case NodeType::kEventRecord:
            *work = EventRecordWork{parameters.event};
            return client.events.find(parameters.event) ? cudaSuccess : cudaErrorInvalidValue;
        case NodeType::kAllocate:
            return make(AllocateWork{0, parameters.allocate.bytesize, parameters.allocate},
                        [&](auto* made) { return allocate_in_graph(client, made); });
        case NodeType::kFree:
            *work = FreeWork{number_of(parameters.freed)};
            return cudaSuccess;
        case NodeType::kConditional:
            return make(ConditionalWork{parameters.conditional.handle, parameters.conditional.type, {}},
                        [&](auto* made) { return add_bodies(client, parameters.conditional.size, made); });
    }
    return cudaErrorNotSupported;
}

}  // namespace warpwatt::runtime
