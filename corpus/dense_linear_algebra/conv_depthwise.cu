// Depthwise 3 x 3 convolution with zero padding on channels-last images: 32 channels by 8 pixels per block,
// image in blockIdx.z. Nine coalesced loads for nine multiply-adds, most of them cache hits: limited by
// memory and L1 bandwidth.
extern "C" __global__ void conv_depthwise(int h, int w, int channels, const float *__restrict__ input,
                                          const float *__restrict__ weight, float *__restrict__ output) {
    int c = blockIdx.y * blockDim.x + threadIdx.x;
    int pixel = blockIdx.x * blockDim.y + threadIdx.y;
    if (c >= channels || pixel >= h * w) {
        return;
    }
    int y = pixel / w;
    int x = pixel % w;
    size_t image = static_cast<size_t>(blockIdx.z) * h * w * channels;
    float sum = 0.0f;
#pragma unroll
    for (int r = 0; r < 3; ++r) {
#pragma unroll
        for (int s = 0; s < 3; ++s) {
            int yy = y + r - 1;
            int xx = x + s - 1;
            if (yy >= 0 && yy < h && xx >= 0 && xx < w) {
                sum += input[image + (yy * w + xx) * channels + c] * weight[(r * 3 + s) * channels + c];
            }
        }
    }
    output[image + pixel * channels + c] = sum;
}
