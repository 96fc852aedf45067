// One round of loopy belief propagation (min-sum) on a grid with eight labels and a truncated linear smoothness
// cost, as in stereo matching: one thread per node sends four messages. 40 floats in, 32 out: memory bound.
#define LABELS 8

// A message holds, for each label, the least cost of the sender's side; stored by label, then node.
__device__ __forceinline__ void send(const float *belief, const float *received, float slope, float limit,
                                     float *__restrict__ to, int nodes)
{
    float message[LABELS];
    float least = 3.4e38f;
#pragma unroll
    for (int l = 0; l < LABELS; ++l) {
        message[l] = belief[l] - received[l]; // what came from the recipient does not go back
        least = fminf(least, message[l]);
    }
#pragma unroll
    for (int l = 1; l < LABELS; ++l)
        message[l] = fminf(message[l], message[l - 1] + slope);
#pragma unroll
    for (int l = LABELS - 2; l >= 0; --l)
        message[l] = fminf(message[l], message[l + 1] + slope);
#pragma unroll
    for (int l = 0; l < LABELS; ++l)
        to[l * nodes] = fminf(message[l], least + limit) - least;
}

// in and out hold four sets of messages, by where they come from: west, east, north, south.
extern "C" __global__ void belief_propagation(int width, int height, float slope, float limit,
                                              const float *__restrict__ cost, const float *__restrict__ in,
                                              float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int nodes = width * height;
    int set = LABELS * nodes;
    int node = y * width + x;
    float west[LABELS], east[LABELS], north[LABELS], south[LABELS], belief[LABELS];
#pragma unroll
    for (int l = 0; l < LABELS; ++l) {
        int at = l * nodes + node;
        west[l] = in[at];
        east[l] = in[set + at];
        north[l] = in[2 * set + at];
        south[l] = in[3 * set + at];
        belief[l] = cost[at] + west[l] + east[l] + north[l] + south[l];
    }
    if (x + 1 < width)
        send(belief, east, slope, limit, out + node + 1, nodes);
    if (x > 0)
        send(belief, west, slope, limit, out + set + node - 1, nodes);
    if (y + 1 < height)
        send(belief, south, slope, limit, out + 2 * set + node + width, nodes);
    if (y > 0)
        send(belief, north, slope, limit, out + 3 * set + node - width, nodes);
}
