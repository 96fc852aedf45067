// Nearest neighbours, first half: the Euclidean distance of every record to one place.
//
// Our own version of the kernel that Alavani's thesis uses to explain its program features (section 5.4.5.1):
// a two-dimensional grid of one-dimensional blocks, two loads, one store, one square root.

struct Place {
    float latitude;
    float longitude;
};

extern "C" __global__ void euclid(const Place *places, float *distances, int count, float latitude, float longitude)
{
    int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i < count) {
        float north = latitude - places[i].latitude;
        float east = longitude - places[i].longitude;
        distances[i] = sqrtf(north * north + east * east);
    }
}
