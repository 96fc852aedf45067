// Kernels of sm_90a: warp-group tensor instructions, bulk copies, clusters.
extern "C" __global__ void group(float *o, unsigned long long a, unsigned long long b)
{
    float d[8];
    for (int i = 0; i < 8; i++) d[i] = o[i];
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
    for (int i = 0; i < 8; i++) o[i] = d[i];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) bulk(int *x, const __grid_constant__ int4 map[8])
{
    __shared__ alignas(128) int tile[1024];
    __shared__ unsigned long long barrier;
    unsigned b = __cvta_generic_to_shared(&barrier), s = __cvta_generic_to_shared(tile);
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(b));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                 ::"r"(s), "l"(x), "r"(b));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(s), "l"(map), "r"(x[0]), "r"(x[1]), "r"(b) : "memory");
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L; }" ::"r"(b));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;");
    x[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void fragments(const unsigned *a, float *o)
{
    unsigned i = threadIdx.x, p = i * 16, r0, r1, r2, r3;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" ::"r"(p), "l"(a + 4 * i));
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(p));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r1));
    o[i] = d0 + d1 + d2 + d3 + __reduce_add_sync(~0u, r0);
}
