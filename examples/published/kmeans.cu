// k-means: the features of a point from rows to columns, and the nearest centre of every point.

extern "C" __global__ void invert(const float *in, float *out, int points, int features) {
    int point = threadIdx.x + blockDim.x * blockIdx.x;
    if (point >= points) return;
    for (int i = 0; i < features; ++i) out[point + points * i] = in[point * features + i];
}

extern "C" __global__ void nearest(const float *features, int count, int points, int clusters, const float *centres,
                                   int *membership) {
    int point = threadIdx.x + blockDim.x * (blockIdx.x + blockIdx.y * gridDim.x);
    if (point >= points) return;
    int best = -1;
    float least = 3.4e38f;
    for (int c = 0; c < clusters; ++c) {
        float distance = 0.0f;
        for (int f = 0; f < count; ++f) {
            float difference = features[point + f * points] - centres[c * count + f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    membership[point] = best;
}
