// Work of graph nodes from what programs say of them.
#pragma once

#include "runtime/client.h"

namespace warpwatt::runtime {

cudaError_t kernel_work(Client& client, const cudaKernelNodeParams& parameters, KernelWork* work);
cudaError_t copy_work(Client& client, const cudaMemcpy3DParms& parameters, CopyWork* work);
cudaError_t copy_work(Client& client, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      CopyWork* work);
cudaError_t symbol_work(Client& client, const void* symbol, void* host, std::size_t bytes, std::size_t offset,
                        cudaMemcpyKind kind, bool to_symbol, CopyWork* work);
cudaError_t fill_work(Client& client, const cudaMemsetParams& parameters, FillWork* work);

// Shows what a node does, in the words of the program.
void show(GraphNode& node, const KernelWork& work, cudaKernelNodeParams* parameters);
void show(const CopyWork& work, cudaMemcpy3DParms* parameters);
void show(const FillWork& work, cudaMemsetParams* parameters);

// cudaGraphNodeParams: the node's type, and what the functions for the type take.
struct NodeParameters {
    int type;
    int reserved[3];
    union {
        cudaKernelNodeParams kernel;
        struct {
            int flags, reserved;
            void* context;
            cudaMemcpy3DParms parameters;
        } copy;
        cudaMemsetParams fill;
        cudaHostNodeParams host;
        cudaGraph_t graph;
        cudaEvent_t event;
        cudaMemAllocNodeParams allocate;
        void* freed;
        struct {  // cudaConditionalNodeParams
            std::uint64_t handle;
            int type;
            unsigned size;
            cudaGraph_t* bodies;
            void* context;
        } conditional;
        long long reserved1[29];
    };
    long long reserved2;
};

enum class NodeType : int {  // cudaGraphNodeType
    kKernel = 0,
    kCopy = 1,
    kFill = 2,
    kHost = 3,
    kGraph = 4,
    kEmpty = 5,
    kEventWait = 6,
    kEventRecord = 7,
    kAllocate = 10,
    kFree = 11,
    kConditional = 13,
};
NodeType type_of(const Work& work);
cudaError_t work_of(Client& client, const NodeParameters& parameters, Work* work);

}  // namespace warpwatt::runtime
