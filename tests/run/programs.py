"""Programs to run: CUDA sources that check their own results."""

SAXPY = r"""
#include <cstdio>
#include <cstdlib>
__device__ int counter = 3;
__constant__ float scale[2] = {1.0f, 2.0f};
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i] * scale[1];
    if (i == 0) counter += 1;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]), launches = atoi(argv[2]), wrong = 0, count = 0;
    size_t bytes = n * sizeof(float);
    float *x = (float *)malloc(bytes), *y = (float *)malloc(bytes), *dx, *dy, one[2] = {1.0f, 1.0f}, ms;
    for (int i = 0; i < n; ++i) { x[i] = i % 100; y[i] = 1; }
    cudaMalloc(&dx, bytes); cudaMalloc(&dy, bytes);
    cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, bytes, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(scale, one, sizeof one);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin); cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int k = 0; k < launches; ++k) saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    cudaMemcpy(y, dy, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    for (int i = 0; i < n; ++i) wrong += y[i] != 1 + launches * 2.0f * x[i];
    printf("ms %.6f wrong %d count %d error %d\n", ms, wrong, count, cudaGetLastError());
    return wrong != 0;
}
"""
"""``saxpy N LAUNCHES``: prints the predicted time, wrong results and how often it was launched."""

ODD = r"""
#include <cstdio>
namespace { __global__ void hidden(float *x) { x[threadIdx.x] += 1; } }
template <typename F> __global__ void apply(F f, float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
__global__ void parent(float *x) { if (threadIdx.x == 0) hidden<<<1, 32>>>(x); }
__global__ void dynamic(float *x) { extern __shared__ float s[]; x[threadIdx.x] += s[threadIdx.x] * 0; }
int main() {
    float *x;
    cudaMallocManaged(&x, 4096);
    cudaMemPrefetchAsync(x, 4096, 0);
    cudaMemAdvise(x, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    hidden<<<10 / 256, 256>>>(x);
    hidden<<<10 / 256, 256>>>(x);
    hidden<<<1, 2048>>>(x);
    dynamic<<<1, 32, 60000>>>(x);
    cudaGetLastError();
    parent<<<1, 32>>>(x);
    apply<<<1, 32>>>([] __device__(float v) { return 2 * v; }, x);
    cudaMemPrefetchAsync(x, 4096, cudaCpuDeviceId, nullptr);
    cudaDeviceSynchronize();
    printf("x %g error %d\n", x[0], cudaGetLastError());
}
"""
"""Launches from the device and of a lambda, for which nvcc wants flags; launches that are refused; calls as
CUDA 12 had them."""

ENDINGS = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
__global__ void fill(int n, int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i; }
__global__ void gather(const int *at, const int *x, int *y) { y[threadIdx.x] += x[at[threadIdx.x]]; }
__global__ void forever(int *x) { while (atomicAdd(x, 0) >= 0) {} }
__global__ void ratio(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x] / x[threadIdx.x + 32]; }
__global__ void ones(float *x) { x[threadIdx.x] = 1; }
__global__ void far(int *x) { x[threadIdx.x + (1 << 30)] = 1; }
int main(int, char **argv) {
    int *x;
    cudaMalloc(&x, 4096);
    fill<<<4, 256>>>(1024, x);
    if (!strcmp(argv[1], "crash")) abort();
    if (!strcmp(argv[1], "endless")) for (;;) pause();
    if (!strcmp(argv[1], "gather")) {
        int *at, *y;
        cudaMalloc(&at, 128); cudaMalloc(&y, 128);
        cudaMemset(at, 0, 128);
        for (int k = 0; k < 3; ++k) gather<<<1, 32>>>(at, x, y);
        if (argv[2]) fill<<<1, 32>>>(32, at); else cudaMemset(at, 0, 128);
        gather<<<1, 32>>>(at, x, y);
    }
    if (!strcmp(argv[1], "ratio")) {
        float *values, *y;
        cudaMalloc(&values, 256); cudaMalloc(&y, 128);
        ratio<<<1, 32>>>(values, y);
        for (int k = 0; k < 2; ++k) { ones<<<1, 64>>>(values); ratio<<<1, 32>>>(values, y); }
        cudaMemset(values, 0, 256);
        ones<<<1, 64>>>(values);
        ratio<<<1, 32>>>(values, y);
    }
    if (!strcmp(argv[1], "busy")) for (volatile int k = 0;; ++k) {}
    if (!strcmp(argv[1], "kernel")) { forever<<<2, 32>>>(x); cudaDeviceSynchronize(); }
    if (!strcmp(argv[1], "missing")) { cudaGraphicsUnregisterResource(nullptr); return 4; }
    if (!strcmp(argv[1], "memory")) for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (!strcmp(argv[1], "child")) { if (!fork()) for (;;) pause(); return 3; }
    if (!strcmp(argv[1], "fault")) {
        far<<<1, 32>>>(x);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    }
    if (!strcmp(argv[1], "host")) *x = 1;
    return 0;
}
"""
"""``endings HOW``: launches a kernel, then ends as said."""

SYSTEM = r"""
#include <cassert>
#include <cstdio>
__global__ void hello(int k) { if (threadIdx.x < 2) printf("hello %d from %d: %s\n", k, threadIdx.x, "ok"); }
__global__ void make(int **p) { p[threadIdx.x] = (int *)malloc(16); p[threadIdx.x][0] = 40 + threadIdx.x; }
__global__ void use(int **p, int *r) { r[threadIdx.x] = p[threadIdx.x][0]; free(p[threadIdx.x]); }
texture<unsigned char, 2, cudaReadModeNormalizedFloat> table;
texture<int> numbers;
__global__ void look(int *r) { r[threadIdx.x] = 255 * tex2D(table, threadIdx.x + 0.5f, 1.5f) + 0.5f; }
__global__ void check(int k) { assert(threadIdx.x < k); }
int main() {
    int **p, *r, result[4];
    hello<<<1, 32>>>(7);
    cudaDeviceSynchronize();
    printf("between\n");
    hello<<<1, 32>>>(8);
    cudaMalloc(&p, 64); cudaMalloc(&r, 16);
    make<<<1, 4>>>(p);
    use<<<1, 4>>>(p, r);
    cudaMemcpy(result, r, 16, cudaMemcpyDeviceToHost);
    printf("%d %d\n", result[0], result[3]);
    unsigned char bytes[64], *rows;
    size_t pitch;
    for (int i = 0; i < 64; ++i) bytes[i] = 3 * i;
    cudaMallocPitch(&rows, &pitch, 32, 2);
    cudaMemcpy2D(rows, pitch, bytes, 32, 32, 2, cudaMemcpyHostToDevice);
    cudaBindTexture2D(0, table, rows, cudaCreateChannelDesc<unsigned char>(), 32, 2, pitch);
    look<<<1, 4>>>(r);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaBindTexture(nullptr, &numbers, p, &format, 16);
    cudaUnbindTexture(&numbers);
    cudaMemcpy(result, r, 16, cudaMemcpyDeviceToHost);
    printf("%d %d\n", result[0], result[3]);
    cudaDeviceProp properties = {};
    cudaGetDeviceProperties(&properties, 0);
    printf("%d SMs, %d kHz\n", properties.multiProcessorCount, properties.clockRate);
    check<<<1, 32>>>(31);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
"""
"""Kernels that print, allocate and assert; what CUDA 13 no longer has."""

LIBRARIES = r"""
#include <cmath>
#include <cstdio>
typedef void *Handle;
extern "C" {
int cublasCreate_v2(Handle *);
int cublasSetStream_v2(Handle, cudaStream_t);
int cublasSetMathMode(Handle, int);
int cublasGetMathMode(Handle, int *);
int cublasSetVector(int, int, const void *, int, void *, int);
int cublasGetMatrix(int, int, int, const void *, int, void *, int);
int cublasSgemm_v2(Handle, int, int, int, int, int, const float *, const float *, int, const float *, int,
                   const float *, float *, int);
int cublasSdot_v2(Handle, int, const float *, int, const float *, int, float *);
int cublasSsyr2_v2(Handle, int, int, const float *, const float *, int, const float *, int, float *, int);
int cufftPlan1d(int *, int, int, int);
int cufftExecC2C(int, void *, void *, int);
int curandCreateGenerator(Handle *, int);
int curandSetPseudoRandomGeneratorSeed(Handle, unsigned long long);
int curandGenerateUniform(Handle, float *, size_t);
}
__global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i % 3;
}
int main() {
    const int n = 20;
    float *a, *b, *c, one = 1, zero = 0, two = 2, found[n * n], dot, ones[n];
    for (float &x : ones) x = 1;
    cudaMalloc(&a, 4096); cudaMalloc(&b, 4096); cudaMalloc(&c, 4096);
    fill<<<4, 128>>>(a, n * n);
    fill<<<4, 128>>>(b, n * n);
    Handle handle;
    cublasCreate_v2(&handle);
    cublasSgemm_v2(handle, 0, 0, n, n, n, &one, a, n, b, n, &zero, c, n);
    cublasGetMatrix(n, n, 4, c, n, found, n);
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += float((i + k * n) % 3) * float((k + j * n) % 3);
            wrong += sum != found[i + j * n];
        }
    cublasSetVector(n, 4, ones, 1, b, 1);
    cublasSdot_v2(handle, n, b, 1, b, 1, &dot);
    int plan, bad = 0;
    cufftPlan1d(&plan, 8, 0x29, 1);
    cudaMemset(c, 0, 64);
    cudaMemcpy(c, &two, 4, cudaMemcpyHostToDevice);
    cufftExecC2C(plan, c, c, -1);
    cudaMemcpy(found, c, 64, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 16; ++i) bad += found[i] != (i % 2 ? 0 : 2);
    Handle generator;
    curandCreateGenerator(&generator, 100);
    curandSetPseudoRandomGeneratorSeed(generator, 5);
    curandGenerateUniform(generator, c, 400);
    cudaMemcpy(found, c, 1600, cudaMemcpyDeviceToHost);
    float mean = 0;
    for (float x : found) mean += x / 400;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaStreamCreate(&stream);
    cublasSetStream_v2(handle, stream);
    cudaMemset(c, 0, 1600);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    int mode = -1;
    cublasSetMathMode(handle, 3);
    cublasGetMathMode(handle, &mode);
    cublasSgemm_v2(handle, 0, 0, n, 1, n, &one, a, n, b, n, &one, c, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, stream);
    cudaGraphLaunch(made, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(found, c, 4 * n, cudaMemcpyDeviceToHost);
    int off = 0;
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int k = 0; k < n; ++k) sum += (i + k * n) % 3;
        off += found[i] != 2 * sum;
    }
    int missing = cublasSsyr2_v2(handle, 0, n, &one, a, 1, b, 1, c, n);
    printf("gemm %d dot %g fft %d uniform %.1f ", wrong, dot, bad, mean);
    printf("graph %d mode %d missing %d\n", off, mode, missing);
    return 0;
}
"""
"""Calls cuBLAS, cuFFT and cuRAND and checks them; one call is not there."""
