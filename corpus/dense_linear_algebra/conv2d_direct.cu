// 3 x 3 convolution over many channels (NCHW, one image, zero padding), one thread per output element;
// blockIdx.z is its channel. Nine loads per nine multiply-adds and input channel, neighbours share cache
// lines: limited by the load path of L1.
extern "C" __global__ void conv2d_direct(int c_in, int h, int w, const float *__restrict__ input,
                                         const float *__restrict__ weight, float *__restrict__ output) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (x >= w || y >= h) {
        return;
    }
    float sum = 0.0f;
    for (int c = 0; c < c_in; ++c) {
        const float *plane = input + c * h * w;
        const float *filter = weight + (k * c_in + c) * 9;
#pragma unroll
        for (int r = 0; r < 3; ++r) {
#pragma unroll
            for (int s = 0; s < 3; ++s) {
                int yy = y + r - 1;
                int xx = x + s - 1;
                if (yy >= 0 && yy < h && xx >= 0 && xx < w) {
                    sum += plane[yy * w + xx] * filter[r * 3 + s];
                }
            }
        }
    }
    output[(k * h + y) * w + x] = sum;
}
