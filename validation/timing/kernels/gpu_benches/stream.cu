// Streaming kernels in double precision, one element per thread. Shared memory that is never used lets the
// carve-out decide how many blocks are resident.

const int UNUSED = 768;

#define BEGIN(keep_off) \
    __shared__ double unused[UNUSED]; \
    long long i = threadIdx.x + blockIdx.x * blockDim.x; \
    if (i >= n - keep_off || i < keep_off) return; \
    if (never) unused[threadIdx.x] = b[threadIdx.x];
#define END \
    if (never) a[i] = unused[i];

extern "C" __global__ void init(double *a, const double *__restrict__ b, const double *__restrict__ c, long long n, bool never) {
    BEGIN(0)
    a[i] = 0.23;
    END
}

extern "C" __global__ void read(double *a, const double *__restrict__ b, const double *__restrict__ c, long long n, bool never) {
    BEGIN(0)
    double v = b[i];
    if (never || v == 123.0) a[i] = v + unused[i];
}

extern "C" __global__ void scale(double *a, const double *__restrict__ b, const double *__restrict__ c, long long n, bool never) {
    BEGIN(0)
    a[i] = b[i] * 1.2;
    END
}

extern "C" __global__ void triad(double *a, const double *__restrict__ b, const double *__restrict__ c, long long n, bool never) {
    BEGIN(0)
    a[i] = b[i] * 1.2 + c[i];
    END
}

extern "C" __global__ void stencil3pt(double *a, const double *__restrict__ b, const double *__restrict__ c, long long n, bool never) {
    BEGIN(1)
    a[i] = 0.5 * b[i - 1] - b[i] + 0.5 * b[i + 1];
    END
}

extern "C" __global__ void stencil5pt(double *a, const double *__restrict__ b, const double *__restrict__ c, long long n, bool never) {
    BEGIN(2)
    a[i] = 0.25 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.5 * b[i + 1] + 0.5 * b[i + 2];
    END
}

extern "C" __global__ void scale_small(double *__restrict__ a, const double *__restrict__ b, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) a[i] = b[i] * 0.25;
}
