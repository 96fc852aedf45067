// Kernels of sm_100a: tensor memory, packed single-precision arithmetic.
extern "C" __global__ void tensor_memory(float *o, unsigned long long a, unsigned long long b, unsigned descriptor)
{
    __shared__ unsigned place;
    unsigned s = __cvta_generic_to_shared(&place), r0, r1, r2, r3;
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(s));
    __syncthreads();
    unsigned t = place;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                 ::"r"(t), "l"(a), "l"(b), "r"(descriptor));
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(t));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(t));
    o[threadIdx.x] = r0 + r1 + r2 + r3;
}

extern "C" __global__ void packed(float2 *o)
{
    float2 x = o[0], y = o[1];
    asm volatile("{ .reg .b64 a, b; mov.b64 a, {%0,%1}; mov.b64 b, {%2,%3}; fma.rn.f32x2 a, a, b, b; mov.b64 {%0,%1}, a; }"
                 : "+f"(x.x), "+f"(x.y) : "f"(y.x), "f"(y.y));
    o[2] = x;
}
