// Programs compiled with --default-stream per-thread call these: stream 0 is the thread's own. What has no
// stream runs in the legacy default stream, which waits for the others: the same results, less at the same
// time.
#include "runtime/api.h"
#include "runtime/api/graph_nodes.h"
#include "runtime/call.h"

#define PER_THREAD(name, parameters, arguments) \
    RUNTIME_API cudaError_t name##_ptsz parameters { return name arguments; }
#define LEGACY(name, parameters, arguments) \
    RUNTIME_API cudaError_t name##_ptds parameters { return name arguments; }

namespace warpwatt::runtime {

PER_THREAD(__cudaLaunchKernel,
           (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
            cudaStream_t stream),
           (kernel, grid, block, arguments, shared, per_thread_stream(stream)))
PER_THREAD(cudaEventRecordWithFlags, (cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags),
           (handle, per_thread_stream(stream_handle), flags))
PER_THREAD(cudaEventRecord, (cudaEvent_t handle, cudaStream_t stream), (handle, per_thread_stream(stream)))
PER_THREAD(cudaFreeAsync, (void* pointer, cudaStream_t handle), (pointer, per_thread_stream(handle)))
PER_THREAD(cudaGraphInstantiateWithParams,
           (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams* parameters),
           (exec, graph, parameters))
PER_THREAD(cudaGraphLaunch, (cudaGraphExec_t handle, cudaStream_t stream_handle),
           (handle, per_thread_stream(stream_handle)))
PER_THREAD(cudaGraphUpload, (cudaGraphExec_t handle, cudaStream_t unused1),
           (handle, per_thread_stream(unused1)))
PER_THREAD(cudaLaunchCooperativeKernel,
           (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
            cudaStream_t stream),
           (function, grid, block, arguments, shared, per_thread_stream(stream)))
PER_THREAD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* argument),
           (per_thread_stream(stream), function, argument))
PER_THREAD(cudaLaunchHostFunc_v2,
           (cudaStream_t stream, cudaHostFn_t function, void* argument, unsigned unused3),
           (per_thread_stream(stream), function, argument, unused3))
PER_THREAD(cudaLaunchKernel,
           (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
            cudaStream_t stream),
           (function, grid, block, arguments, shared, per_thread_stream(stream)))
PER_THREAD(cudaMallocAsync, (void** pointer, std::size_t bytes, cudaStream_t handle),
           (pointer, bytes, per_thread_stream(handle)))
PER_THREAD(cudaMallocFromPoolAsync,
           (void** pointer, std::size_t bytes, cudaMemPool_t handle, cudaStream_t stream),
           (pointer, bytes, handle, per_thread_stream(stream)))
PER_THREAD(cudaMemPrefetchAsync,
           (const void* pointer, std::size_t bytes, cudaMemLocation unused2, unsigned unused3,
            cudaStream_t handle),
           (pointer, bytes, unused2, unused3, per_thread_stream(handle)))
LEGACY(cudaMemcpyArrayToArray,
       (cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_t from, std::size_t from_x,
        std::size_t from_y, std::size_t bytes, cudaMemcpyKind kind),
       (to, to_x, to_y, from, from_x, from_y, bytes, kind))
LEGACY(cudaMemcpy2DArrayToArray,
       (cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_t from, std::size_t from_x,
        std::size_t from_y, std::size_t width, std::size_t height, cudaMemcpyKind kind),
       (to, to_x, to_y, from, from_x, from_y, width, height, kind))
PER_THREAD(cudaMemcpy2DAsync,
           (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
            std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           (to, to_pitch, from, from_pitch, width, height, kind, per_thread_stream(stream)))
PER_THREAD(cudaMemcpy2DFromArrayAsync,
           (void* to, std::size_t pitch, cudaArray_t from, std::size_t x, std::size_t y, std::size_t width,
            std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           (to, pitch, from, x, y, width, height, kind, per_thread_stream(stream)))
LEGACY(cudaMemcpy2DFromArray,
       (void* to, std::size_t pitch, cudaArray_t from, std::size_t x, std::size_t y, std::size_t width,
        std::size_t height, cudaMemcpyKind kind),
       (to, pitch, from, x, y, width, height, kind))
PER_THREAD(cudaMemcpy2DToArrayAsync,
           (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
           (to, x, y, from, pitch, width, height, kind, per_thread_stream(stream)))
LEGACY(cudaMemcpy2DToArray,
       (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
        std::size_t height, cudaMemcpyKind kind),
       (to, x, y, from, pitch, width, height, kind))
LEGACY(cudaMemcpy2D,
       (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
        std::size_t height, cudaMemcpyKind kind),
       (to, to_pitch, from, from_pitch, width, height, kind))
PER_THREAD(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* parameters, cudaStream_t stream),
           (parameters, per_thread_stream(stream)))
PER_THREAD(cudaMemcpy3DPeerAsync, (const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream),
           (parameters, per_thread_stream(stream)))
LEGACY(cudaMemcpy3DPeer, (const cudaMemcpy3DPeerParms* parameters), (parameters))
LEGACY(cudaMemcpy3D, (const cudaMemcpy3DParms* parameters), (parameters))
PER_THREAD(cudaMemcpyAsync,
           (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
           (to, from, bytes, kind, per_thread_stream(stream)))
PER_THREAD(cudaMemcpyFromArrayAsync,
           (void* to, cudaArray_t from, std::size_t x, std::size_t y, std::size_t bytes, cudaMemcpyKind kind,
            cudaStream_t stream),
           (to, from, x, y, bytes, kind, per_thread_stream(stream)))
LEGACY(cudaMemcpyFromArray,
       (void* to, cudaArray_t from, std::size_t x, std::size_t y, std::size_t bytes, cudaMemcpyKind kind),
       (to, from, x, y, bytes, kind))
PER_THREAD(cudaMemcpyFromSymbolAsync,
           (void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
            cudaStream_t stream),
           (to, symbol, bytes, offset, kind, per_thread_stream(stream)))
LEGACY(cudaMemcpyFromSymbol,
       (void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind),
       (to, symbol, bytes, offset, kind))
PER_THREAD(cudaMemcpyToArrayAsync,
           (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
            cudaMemcpyKind kind, cudaStream_t stream),
           (to, x, y, from, bytes, kind, per_thread_stream(stream)))
LEGACY(cudaMemcpyToArray,
       (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
        cudaMemcpyKind kind),
       (to, x, y, from, bytes, kind))
PER_THREAD(cudaMemcpyToSymbolAsync,
           (const void* symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
            cudaStream_t stream),
           (symbol, from, bytes, offset, kind, per_thread_stream(stream)))
LEGACY(cudaMemcpyToSymbol,
       (const void* symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind),
       (symbol, from, bytes, offset, kind))
LEGACY(cudaMemcpy, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
       (to, from, bytes, kind))
PER_THREAD(cudaMemset2DAsync,
           (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
            cudaStream_t stream),
           (to, pitch, value, width, height, per_thread_stream(stream)))
LEGACY(cudaMemset2D, (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
       (to, pitch, value, width, height))
PER_THREAD(cudaMemset3DAsync, (cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream),
           (to, value, extent, per_thread_stream(stream)))
LEGACY(cudaMemset3D, (cudaPitchedPtr to, int value, cudaExtent extent), (to, value, extent))
PER_THREAD(cudaMemsetAsync, (void* to, int value, std::size_t bytes, cudaStream_t stream),
           (to, value, bytes, per_thread_stream(stream)))
LEGACY(cudaMemset, (void* to, int value, std::size_t bytes), (to, value, bytes))
PER_THREAD(cudaStreamAddCallback,
           (cudaStream_t handle, cudaStreamCallback_t callback, void* argument, unsigned unused3),
           (per_thread_stream(handle), callback, argument, unused3))
PER_THREAD(cudaStreamAttachMemAsync,
           (cudaStream_t handle, void* pointer, std::size_t unused2, unsigned flags),
           (per_thread_stream(handle), pointer, unused2, flags))
PER_THREAD(cudaStreamBeginCaptureToGraph,
           (cudaStream_t handle, cudaGraph_t graph_handle, const cudaGraphNode_t* dependencies,
            const cudaGraphEdgeData* unused3, std::size_t count, int unused5),
           (per_thread_stream(handle), graph_handle, dependencies, unused3, count, unused5))
PER_THREAD(cudaStreamBeginCapture, (cudaStream_t handle, int unused1), (per_thread_stream(handle), unused1))
PER_THREAD(cudaStreamCopyAttributes, (cudaStream_t unused0, cudaStream_t unused1),
           (per_thread_stream(unused0), per_thread_stream(unused1)))
PER_THREAD(cudaStreamEndCapture, (cudaStream_t handle, cudaGraph_t* graph),
           (per_thread_stream(handle), graph))
PER_THREAD(cudaStreamGetAttribute, (cudaStream_t handle, int unused1, void* value),
           (per_thread_stream(handle), unused1, value))
PER_THREAD(cudaStreamGetCaptureInfo,
           (cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* number,
            cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
            std::size_t* count),
           (per_thread_stream(handle), status, number, graph, dependencies, edges, count))
PER_THREAD(cudaStreamGetDevice, (cudaStream_t handle, int* device), (per_thread_stream(handle), device))
PER_THREAD(cudaStreamGetFlags, (cudaStream_t handle, unsigned* flags), (per_thread_stream(handle), flags))
PER_THREAD(cudaStreamGetId, (cudaStream_t handle, unsigned long long* number),
           (per_thread_stream(handle), number))
PER_THREAD(cudaStreamGetPriority, (cudaStream_t handle, int* priority), (per_thread_stream(handle), priority))
PER_THREAD(cudaStreamIsCapturing, (cudaStream_t handle, cudaStreamCaptureStatus* status),
           (per_thread_stream(handle), status))
PER_THREAD(cudaStreamQuery, (cudaStream_t handle), (per_thread_stream(handle)))
PER_THREAD(cudaStreamSetAttribute, (cudaStream_t handle, int unused1, const void* unused2),
           (per_thread_stream(handle), unused1, unused2))
PER_THREAD(cudaStreamSynchronize, (cudaStream_t handle), (per_thread_stream(handle)))
PER_THREAD(cudaStreamUpdateCaptureDependencies,
           (cudaStream_t handle, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* unused2,
            std::size_t count, unsigned flags),
           (per_thread_stream(handle), dependencies, unused2, count, flags))
PER_THREAD(cudaStreamWaitEvent, (cudaStream_t handle, cudaEvent_t event_handle, unsigned unused2),
           (per_thread_stream(handle), event_handle, unused2))

RUNTIME_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function,
                                                 void** arguments) {
    cudaLaunchConfig_t changed = *config;
    changed.stream = per_thread_stream(changed.stream);
    return cudaLaunchKernelExC(&changed, function, arguments);
}

}  // namespace warpwatt::runtime
