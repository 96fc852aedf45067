// One step of a chip's heat balance (power in, conduction to four neighbours, loss to the ambient), one thread
// per cell; the chip's edges are insulated. Bound by memory bandwidth: two arrays in, one out.
extern "C" __global__ void thermal_step(int width, int height, float conduct_x, float conduct_y, float loss,
                                        float ambient, float heating, const float *__restrict__ temperature,
                                        const float *__restrict__ power, float *__restrict__ result)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int row = y * width;
    int i = row + x;
    float here = temperature[i];
    float west = temperature[row + max(x - 1, 0)];
    float east = temperature[row + min(x + 1, width - 1)];
    float north = temperature[max(y - 1, 0) * width + x];
    float south = temperature[min(y + 1, height - 1) * width + x];
    result[i] = here + heating * power[i] + conduct_x * (west + east - 2.0f * here) +
                conduct_y * (north + south - 2.0f * here) + loss * (ambient - here);
}
