// Driver API: launches, occupancy, streams, events and graphs.
#include "runtime/driver/driver.h"
#include "runtime/launch.h"

namespace warpwatt::runtime {

namespace {

// Parameters as one buffer: CU_LAUNCH_PARAM_BUFFER_POINTER and its size, in a list that ends with 0.
const char* buffer_of(void** extra) {
    for (; extra && *extra; extra += 2)
        if (number_of(*extra) == 1) return static_cast<const char*>(extra[1]);
    return nullptr;
}

CUresult launch_with(CUfunction handle, CUstream stream_handle, LaunchRequest request, void** extra) {
    return result(call_in(stream_handle, [&](Client& client, Stream& stream) {
        Function* function = client.modules.function(handle);
        if (!function) return cudaErrorInvalidResourceHandle;
        if (cudaError_t error = client.learn(*function)) return error;
        std::vector<void*> arguments;
        if (const char* buffer = buffer_of(extra); buffer && !request.arguments) {
            for (const message::Parameter& parameter : function->parameters)
                arguments.push_back(const_cast<char*>(buffer) + parameter.offset);
            request.arguments = arguments.data();
        }
        return launch(client, stream, *function, request);
    }));
}

}  // namespace

RUNTIME_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                    CUstream stream, void** arguments, void** extra) {
    LaunchRequest request{
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {0, 0, 0}, shared, arguments};
    return launch_with(function, stream, request, extra);
}

RUNTIME_API CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, CUstream stream, void** arguments,
                                         void** extra) {
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                          per_thread_stream(stream), arguments, extra);
}

RUNTIME_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                               unsigned grid_z, unsigned block_x, unsigned block_y,
                                               unsigned block_z, unsigned shared, CUstream stream,
                                               void** arguments) {
    return result(cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                              arguments, shared, stream));
}

RUNTIME_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                                      void** extra) {
    LaunchRequest request{{config->gridDimX, config->gridDimY, config->gridDimZ},
                          {config->blockDimX, config->blockDimY, config->blockDimZ},
                          {0, 0, 0},
                          config->sharedMemBytes,
                          arguments};
    for (unsigned i = 0; i < config->numAttrs; ++i) apply(config->attrs[i], &request);
    return launch_with(function, config->hStream, request, extra);
}

RUNTIME_API CUresult cuLaunchHostFunc(CUstream stream, cudaHostFn_t function, void* argument) {
    return result(cudaLaunchHostFunc(stream, function, argument));
}

RUNTIME_API CUresult cuLaunchHostFunc_v2(CUstream stream, cudaHostFn_t function, void* argument, unsigned) {
    return cuLaunchHostFunc(stream, function, argument);
}

RUNTIME_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                                 int block_size, std::size_t shared) {
    return result(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared));
}
RUNTIME_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                                          int block_size, std::size_t shared,
                                                                          unsigned) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared);
}
RUNTIME_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                             int blocks, int block_size) {
    return result(cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size));
}

// The block size, in whole warps, with which most threads are resident.
RUNTIME_API CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                      std::size_t (*shared_of)(int), std::size_t shared,
                                                      int limit) {
    return driver_call([&](Client& client) {
        Function* found = client.modules.function(function);
        if (!found) return cudaErrorInvalidResourceHandle;
        if (cudaError_t error = client.learn(*found)) return error;
        int most = static_cast<int>(found->needs.max_threads_per_block), best = 0;
        for (int size = limit > 0 ? std::min(limit, most) : most; size > 0;
             size -= size % 32 ? size % 32 : 32) {
            message::OccupancyReply resident{};
            std::size_t bytes = shared_of ? shared_of(size) : shared;
            if (occupancy(client, *found, static_cast<std::uint32_t>(size), bytes, 0, &resident)) continue;
            int threads = static_cast<int>(resident.blocks_per_sm) * size;
            if (threads <= best) continue;
            best = threads;
            *block = size;
            *grid = static_cast<int>(resident.blocks_per_sm * client.device().number("multiProcessorCount"));
        }
        return best ? cudaSuccess : cudaErrorInvalidValue;
    });
}

RUNTIME_API CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    return result(cudaStreamCreateWithFlags(stream, flags));
}
RUNTIME_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    return result(cudaStreamCreateWithPriority(stream, flags, priority));
}
RUNTIME_API CUresult cuStreamDestroy_v2(CUstream stream) { return result(cudaStreamDestroy(stream)); }
RUNTIME_API CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }
RUNTIME_API CUresult cuStreamSynchronize(CUstream stream) { return result(cudaStreamSynchronize(stream)); }
RUNTIME_API CUresult cuStreamQuery(CUstream stream) { return result(cudaStreamQuery(stream)); }
RUNTIME_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return result(cudaStreamWaitEvent(stream, event, flags));
}
RUNTIME_API CUresult cuStreamAddCallback(CUstream stream, cudaStreamCallback_t callback, void* argument,
                                         unsigned flags) {
    return result(cudaStreamAddCallback(stream, callback, argument, flags));
}
RUNTIME_API CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
    return result(cudaStreamGetFlags(stream, flags));
}
RUNTIME_API CUresult cuStreamGetPriority(CUstream stream, int* priority) {
    return result(cudaStreamGetPriority(stream, priority));
}
RUNTIME_API CUresult cuStreamGetId(CUstream stream, unsigned long long* number) {
    return result(cudaStreamGetId(stream, number));
}
RUNTIME_API CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
    return result(cudaStreamGetDevice(stream, device));
}
RUNTIME_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
    int device = 0;
    CUresult error = cuStreamGetDevice(stream, &device);
    return error ? error : cuDevicePrimaryCtxRetain(context, device);
}
RUNTIME_API CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, void** green_context) {
    if (green_context) *green_context = nullptr;
    return cuStreamGetCtx(stream, context);
}
RUNTIME_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, std::size_t bytes,
                                            unsigned flags) {
    return result(cudaStreamAttachMemAsync(stream, pointer_of(pointer), bytes, flags));
}
RUNTIME_API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    return result(cudaStreamBeginCapture(stream, mode));
}
RUNTIME_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    return result(cudaStreamEndCapture(stream, graph));
}
RUNTIME_API CUresult cuStreamIsCapturing(CUstream stream, cudaStreamCaptureStatus* status) {
    return result(cudaStreamIsCapturing(stream, status));
}
RUNTIME_API CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
    return result(cudaThreadExchangeStreamCaptureMode(mode));
}

RUNTIME_API CUresult cuEventCreate(CUevent* event, unsigned flags) {
    return result(cudaEventCreateWithFlags(event, flags));
}
RUNTIME_API CUresult cuEventDestroy_v2(CUevent event) { return result(cudaEventDestroy(event)); }
RUNTIME_API CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }
RUNTIME_API CUresult cuEventRecord(CUevent event, CUstream stream) {
    return result(cudaEventRecord(event, stream));
}
RUNTIME_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    return result(cudaEventRecordWithFlags(event, stream, flags));
}
RUNTIME_API CUresult cuEventQuery(CUevent event) { return result(cudaEventQuery(event)); }
RUNTIME_API CUresult cuEventSynchronize(CUevent event) { return result(cudaEventSynchronize(event)); }
RUNTIME_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return result(cudaEventElapsedTime(milliseconds, start, end));
}
RUNTIME_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime(milliseconds, start, end);
}

RUNTIME_API CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
    return result(cudaGraphCreate(graph, flags));
}
RUNTIME_API CUresult cuGraphDestroy(CUgraph graph) { return result(cudaGraphDestroy(graph)); }
RUNTIME_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
    return result(cudaGraphInstantiate(exec, graph, flags));
}
RUNTIME_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    return result(cudaGraphLaunch(exec, stream));
}
RUNTIME_API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    return result(cudaGraphUpload(exec, stream));
}
RUNTIME_API CUresult cuGraphExecDestroy(CUgraphExec exec) { return result(cudaGraphExecDestroy(exec)); }

}  // namespace warpwatt::runtime
