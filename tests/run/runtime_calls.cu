// Calls of every chapter of the Runtime API and of the Driver API, as a program makes them; prints what went wrong.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "../emulate/asynchronous/hopper.cuh"

static int wrong = 0;
#define CHECK(condition) \
    if (!(condition)) printf("line %d: %s (%s)\n", __LINE__, #condition, cudaGetErrorName(cudaPeekAtLastError())), ++wrong
#define OK(call) CHECK((call) == 0)

__device__ int counter = 5;
__constant__ float factor[2] = {2.0f, 3.0f};
__managed__ int managed = 7;

struct Span { float *data; int n; };

extern "C" __global__ void scale(Span span, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < span.n) span.data[i] = span.data[i] * by * factor[0];
}
__global__ void count_up() {
    atomicAdd(&counter, 1);
    managed = counter;
}

__global__ void count_down(int *left, int *turns, cudaGraphConditionalHandle go_on) {
    ++*turns;
    cudaGraphSetConditional(go_on, --*left > 0);
}

static const int n = 1000;
static float host[n], back[n];

static bool all_are(float expected) {
    for (float value : back) if (value != expected) return false;
    return true;
}

static void memory() {
    Span span{nullptr, n};
    for (float &value : host) value = 1;
    OK(cudaMalloc(&span.data, sizeof host));
    OK(cudaMemcpy(span.data, host, sizeof host, cudaMemcpyHostToDevice));
    scale<<<4, 256>>>(span, 3);
    OK(cudaGetLastError());
    OK(cudaMemcpy(back, span.data, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(all_are(6));
    float one[2] = {1, 1};
    OK(cudaMemcpyToSymbol(factor, one, sizeof one));
    scale<<<4, 256>>>(span, 2);
    float *copy;
    OK(cudaMallocAsync(&copy, sizeof host, 0));
    OK(cudaMemcpyAsync(copy, span.data, sizeof host, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(span.data, 0, sizeof host));
    OK(cudaMemcpy(back, copy, sizeof back, cudaMemcpyDefault));
    CHECK(all_are(12));
    OK(cudaFreeAsync(copy, 0));
    OK(cudaFree(span.data));
    CHECK(managed == 7);
    count_up<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    CHECK(managed == 6);
    int found;
    OK(cudaMemcpyFromSymbol(&found, counter, sizeof found));
    CHECK(found == 6);
    size_t pitch, free_bytes, total;
    OK(cudaMallocPitch(&span.data, &pitch, 100, 10));
    OK(cudaMemset2D(span.data, pitch, 1, 100, 10));
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(pitch >= 100 && free_bytes < total);
    OK(cudaFree(span.data));
}

static void streams_and_graphs() {
    cudaStream_t one, other;
    cudaEvent_t begin, end;
    Span span{nullptr, n};
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaMallocManaged(&span.data, sizeof host));
    for (int i = 0; i < n; ++i) span.data[i] = 1;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    scale<<<4, 256, 0, one>>>(span, 2);
    scale<<<4, 256, 0, one>>>(span, 5);
    OK(cudaStreamEndCapture(one, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventRecord(begin, other));
    OK(cudaGraphLaunch(exec, other));
    OK(cudaEventRecord(end, other));
    OK(cudaGraphLaunch(exec, other));
    OK(cudaStreamSynchronize(other));
    memcpy(back, span.data, sizeof back);
    CHECK(all_are(100));
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(milliseconds > 0 && milliseconds < 1);
    int called = 0;
    OK(cudaLaunchHostFunc(one, [](void *place) { *static_cast<int *>(place) = 1; }, &called));
    OK(cudaStreamSynchronize(one));
    CHECK(called == 1);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(other));
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaFree(span.data));
}

static void arrays() {
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &floats, 20, 50));
    for (int i = 0; i < n; ++i) host[i] = i;
    OK(cudaMemcpy2DToArray(array, 0, 0, host, 80, 80, 50, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(back, 80, array, 0, 0, 80, 50, cudaMemcpyDeviceToHost));
    CHECK(memcmp(host, back, sizeof host) == 0);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    how.addressMode[0] = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
}

static void devices_and_functions() {
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int device = -1, sms = 0, blocks = 0, grid, block;
    OK(cudaGetDevice(&device));
    OK(cudaGetDeviceProperties(&properties, device));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    CHECK(strlen(properties.name) > 3 && sms == properties.multiProcessorCount && sms > 0);
    OK(cudaFuncGetAttributes(&attributes, scale));
    CHECK(attributes.numRegs > 0 && attributes.maxThreadsPerBlock == 1024);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
    CHECK(blocks * 256 == properties.maxThreadsPerMultiProcessor);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale, 0, 0));
    CHECK(block >= 32 && grid >= sms);
    scale<<<1, 2048>>>(Span{}, 1);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaMalloc((void **)&device, size_t(1) << 60) == cudaErrorMemoryAllocation);
    CHECK(!strcmp(cudaGetErrorString(cudaGetLastError()), "out of memory"));
    CHECK(cudaGetLastError() == cudaSuccess);
}

static void conditional_graphs() {
    int *counts;
    OK(cudaMallocManaged(&counts, 3 * sizeof(int)));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t loop, choice, node;
    cudaGraphConditionalHandle go_on;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&go_on, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams conditional = {cudaGraphNodeTypeConditional};
    conditional.conditional.handle = go_on;
    conditional.conditional.type = cudaGraphCondTypeWhile;
    conditional.conditional.size = 1;
    OK(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &conditional));
    int *left = counts, *turns = counts + 1;
    void *arguments[] = {&left, &turns, &go_on};
    cudaKernelNodeParams kernel = {(void *)count_down, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
    OK(cudaGraphAddKernelNode(&node, conditional.conditional.phGraph_out[0], nullptr, 0, &kernel));
    conditional.conditional.type = cudaGraphCondTypeIf;
    conditional.conditional.size = 2;  // the loop ends with 0: the second graph
    OK(cudaGraphAddNode(&choice, graph, &loop, nullptr, 1, &conditional));
    cudaMemsetParams chosen = {counts + 2, 0, 1, 4, 1, 1}, otherwise = {counts + 2, 0, 2, 4, 1, 1};
    OK(cudaGraphAddMemsetNode(&node, conditional.conditional.phGraph_out[0], nullptr, 0, &chosen));
    OK(cudaGraphAddMemsetNode(&node, conditional.conditional.phGraph_out[1], nullptr, 0, &otherwise));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 1; launch <= 2; ++launch) {
        counts[0] = 5, counts[1] = counts[2] = 0;
        OK(cudaGraphLaunch(exec, 0));
        OK(cudaDeviceSynchronize());
        CHECK(counts[0] == 0 && counts[1] == 5 && counts[2] == 2);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(counts));
}

static void driver() {
    CUdevice device;
    CUcontext context;
    CUdeviceptr data;
    char name[100];
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDeviceGetName(name, sizeof name, device));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&data, sizeof host));
    OK(cuMemsetD32(data, 0x3f800000, n));
    cudaFunction_t function;
    OK(cudaGetFuncBySymbol(&function, (const void *)scale));
    Span span{reinterpret_cast<float *>(data), n};
    float by = 4;
    void *arguments[] = {&span, &by};
    OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, 0, arguments, nullptr));
    OK(cuMemcpyDtoH(back, data, sizeof back));
    CHECK(all_are(4));
    OK(cuMemFree(data));
    for (const char *older : {"cuCtxDestroy", "cuCtxPopCurrent", "cuEventDestroy", "cuStreamDestroy"})
        CHECK(dlsym(RTLD_DEFAULT, older));
    CUmemAllocationProp wanted = {}, given = {};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    CUmemGenericAllocationHandle physical;
    OK(cuMemCreate(&physical, 2 << 20, &wanted, 0));
    OK(cuMemGetAllocationPropertiesFromHandle(&given, physical));
    CHECK(given.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_GENERIC);
    OK(cuMemRelease(physical));
    int version;
    OK(cudaDriverGetVersion(&version));
    CHECK(version >= CUDART_VERSION);
    void *found = nullptr;
    CUdriverProcAddressQueryResult status;
    OK(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status));
    CHECK(found == (void *)cuMemAlloc && status == CU_GET_PROC_ADDRESS_SUCCESS);
    CHECK(cuMemcpyDtoH(back, data, 4) == CUDA_ERROR_INVALID_VALUE);
}

static const int rows = 24, columns = 40, box_rows = 8, box_columns = 32;

__global__ void take_box(const __grid_constant__ CUtensorMap map, float *out, int x, int y) {
    __shared__ alignas(128) float box[box_rows * box_columns];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        make_barrier(&barrier, 1);
        load_box(box, reinterpret_cast<const TensorMap *>(&map), &barrier, x, y);
        arrive_expecting(&barrier, sizeof box);
    }
    __syncthreads();
    await_phase(&barrier, 0);
    for (int i = threadIdx.x; i < box_rows * box_columns; i += blockDim.x) out[i] = box[i];
}

static void tensor_maps() {
    CUtensorMap map;
    float given[rows * columns], taken[box_rows * box_columns], *tensor, *out;
    for (int i = 0; i < rows * columns; ++i) given[i] = i;
    OK(cudaMalloc(&tensor, sizeof given));
    OK(cudaMalloc(&out, sizeof taken));
    OK(cudaMemcpy(tensor, given, sizeof given, cudaMemcpyHostToDevice));
    cuuint64_t extents[] = {columns, rows}, strides[] = {columns * sizeof(float)};
    cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
    auto encode = [&](void *address, CUtensorMapSwizzle swizzle) {
        return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, address, extents, strides, box, steps,
                                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    };
    CHECK(encode(tensor + 1, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE);
    CHECK(encode(tensor, CU_TENSOR_MAP_SWIZZLE_64B) == CUDA_ERROR_INVALID_VALUE);
    for (CUtensorMapSwizzle swizzle : {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B}) {
        OK(encode(tensor, swizzle));
        take_box<<<1, 64>>>(map, out, 16, 20);
        OK(cudaMemcpy(taken, out, sizeof taken, cudaMemcpyDeviceToHost));
        for (int y = 0; y < box_rows; ++y)
            for (int x = 0; x < box_columns; ++x) {
                int chunk = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? x / 4 : x / 4 ^ y;
                bool inside = y + 20 < rows && x + 16 < columns;
                float wanted = inside ? (y + 20) * columns + x + 16 : 0;
                CHECK(taken[y * box_columns + chunk * 4 + x % 4] == wanted);
            }
    }
}

int main() {
    devices_and_functions();
    memory();
    streams_and_graphs();
    arrays();
    conditional_graphs();
    driver();
    tensor_maps();
    OK(cudaDeviceReset());
    printf("%d wrong\n", wrong);
    return wrong;
}
