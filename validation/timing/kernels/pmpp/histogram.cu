// Counts of equal numbers, in global memory or in a copy per block. The published input is all zeros.
typedef unsigned int u32;

__global__ void histogram_global(u32 *in, u32 *bins, u32 n, u32 nbins) {
  u32 first = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
  for (u32 b = first; b < nbins; b += step) bins[b] = 0;
  __syncthreads();
  for (u32 i = first; i < n; i += step) atomicAdd(&bins[in[i]], 1);
}

__global__ void histogram_shared(u32 *in, u32 *bins, u32 n, u32 nbins) {
  extern __shared__ u32 own[];
  u32 first = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
  for (u32 b = threadIdx.x; b < nbins; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (u32 i = first; i < n; i += step) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  for (u32 b = threadIdx.x; b < nbins; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
