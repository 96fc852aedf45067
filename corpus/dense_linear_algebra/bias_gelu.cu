// y = gelu(x + bias) with the tanh approximation, one thread per element; columns in x, rows in y of the
// grid. A dozen arithmetic instructions and one exponential per 8 bytes: limited by memory bandwidth.
extern "C" __global__ void bias_gelu(int rows, int cols, const float *__restrict__ x, const float *__restrict__ bias,
                                     float *__restrict__ y) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= cols || row >= rows) {
        return;
    }
    size_t i = static_cast<size_t>(row) * cols + col;
    float v = x[i] + bias[col];
    float inner = 0.7978845608f * (v + 0.044715f * v * v * v);  // sqrt(2 / pi)
    y[i] = 0.5f * v * (1.0f + tanhf(inner));
}
