// Prices of European options after Black and Scholes, two per thread.

__device__ float normal_cdf(float d) {
    const float a[5] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float polynomial = k * (a[0] + k * (a[1] + k * (a[2] + k * (a[3] + k * a[4]))));
    float tail = 0.39894228f * __expf(-0.5f * d * d) * polynomial;
    return d > 0 ? 1.0f - tail : tail;
}

__device__ void price(float &call, float &put, float s, float x, float t, float r, float v) {
    float root = __fsqrt_rn(t);
    float d1 = __fdividef(__logf(s / x) + (r + 0.5f * v * v) * t, v * root);
    float d2 = d1 - v * root;
    float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
    float discounted = x * __expf(-r * t);
    call = s * n1 - discounted * n2;
    put = discounted * (1.0f - n2) - s * (1.0f - n1);
}

extern "C" __global__ void __launch_bounds__(128)
    black_scholes(float2 *call, float2 *put, const float2 *s, const float2 *x, const float2 *t, float r, float v,
                  int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    float2 c, p;
    price(c.x, p.x, s[i].x, x[i].x, t[i].x, r, v);
    price(c.y, p.y, s[i].y, x[i].y, t[i].y, r, v);
    call[i] = c;
    put[i] = p;
}
