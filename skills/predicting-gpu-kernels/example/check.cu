// Does a candidate compute the softmax? warpwatt run check.cu -DCANDIDATE='"vectors.cu"' -DGRID=16 -DBLOCK=256
#include <cmath>
#include <cstdio>
#include <vector>

#include CANDIDATE

int main() {
    const int rows = 128, columns = 1024;
    std::vector<float> x(rows * columns), y(rows * columns);
    for (int i = 0; i < rows * columns; ++i) x[i] = (i * 7919 % 1013) / 100.0f;
    float *from, *to;
    cudaMalloc(&from, x.size() * sizeof(float));
    cudaMalloc(&to, y.size() * sizeof(float));
    cudaMemcpy(from, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    softmax<<<GRID, BLOCK>>>(rows, columns, from, to);
    cudaMemcpy(y.data(), to, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double worst = 0;
    for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int i = 0; i < columns; ++i) sum += std::exp(double(x[row * columns + i]));
        for (int i = 0; i < columns; ++i) {
            double right = std::exp(double(x[row * columns + i])) / sum;
            worst = std::fmax(worst, std::fabs(y[row * columns + i] / right - 1));
        }
    }
    std::printf("largest relative error %.1e\n", worst);
    return worst < 1e-4 ? 0 : 1;
}
