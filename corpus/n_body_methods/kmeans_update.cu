// Update step of k-means: every thread adds its point of four coordinates to the sums of its cluster, then one
// block divides. Limited by atomic throughput of L2 on 640 addresses.
extern "C" __global__ void kmeans_sum(int n, const float4 *__restrict__ points, const int *__restrict__ labels,
                                      float *sums, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 point = points[i];
    int label = labels[i];
    atomicAdd(&sums[label * 4], point.x);
    atomicAdd(&sums[label * 4 + 1], point.y);
    atomicAdd(&sums[label * 4 + 2], point.z);
    atomicAdd(&sums[label * 4 + 3], point.w);
    atomicAdd(&counts[label], 1);
}

extern "C" __global__ void kmeans_divide(const float *__restrict__ sums, const int *__restrict__ counts,
                                         float *__restrict__ centroids)
{
    int label = threadIdx.x, count = counts[label];
    for (int d = 0; d < 4; ++d)
        centroids[label * 4 + d] = count > 0 ? sums[label * 4 + d] / count : 0.0f;
}
