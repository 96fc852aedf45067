// 2 x 2 maximum pooling with stride 2 over planes (blockIdx.z); an odd last row or column of the input is
// dropped. One thread per output, two 4-byte loads with stride 2 from each of two rows: limited by memory
// bandwidth.
extern "C" __global__ void maxpool_2x2(int h, int w, const float *__restrict__ x, float *__restrict__ y) {
    int out_w = w / 2;
    int out_h = h / 2;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= out_w || row >= out_h) {
        return;
    }
    const float *corner = x + (static_cast<size_t>(blockIdx.z) * h + 2 * row) * w + 2 * col;
    float upper = fmaxf(corner[0], corner[1]);
    float lower = fmaxf(corner[w], corner[w + 1]);
    y[(static_cast<size_t>(blockIdx.z) * out_h + row) * out_w + col] = fmaxf(upper, lower);
}
