// Assignment step of k-means: one thread a point of eight coordinates (coordinate-major), 32 centroids in shared
// memory. Limited by FP32 and shared memory reads that all lanes share.
#define K 32
#define D 8

extern "C" __global__ void kmeans_assign(int n, const float *__restrict__ points,
                                         const float *__restrict__ centroids, int *__restrict__ labels)
{
    __shared__ float shared_centroids[K * D];
    for (int i = threadIdx.x; i < K * D; i += blockDim.x)
        shared_centroids[i] = centroids[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float point[D];
    for (int d = 0; d < D; ++d)
        point[d] = points[d * n + i];
    int nearest = 0;
    float least = INFINITY;
    for (int k = 0; k < K; ++k) {
        float distance = 0.0f;
        for (int d = 0; d < D; ++d) {
            float difference = point[d] - shared_centroids[k * D + d];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            nearest = k;
        }
    }
    labels[i] = nearest;
}
