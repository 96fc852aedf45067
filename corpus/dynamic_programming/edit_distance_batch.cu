// Levenshtein distance of many short pairs, one thread per pair: the row of the table lives in registers, the
// characters are stored interleaved so that loads coalesce. Bound by integer arithmetic.
#define LENGTH 32

extern "C" __global__ void edit_distance_batch(int pairs, const unsigned char *__restrict__ first,
                                               const unsigned char *__restrict__ second, int *__restrict__ distance)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;
    unsigned char text[LENGTH];
    int row[LENGTH + 1];
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) {
        text[j] = second[j * pairs + pair];
        row[j] = j;
    }
    row[LENGTH] = LENGTH;

    for (int i = 0; i < LENGTH; ++i) {
        unsigned char letter = first[i * pairs + pair];
        int across = row[0];
        row[0] = i + 1;
#pragma unroll
        for (int j = 0; j < LENGTH; ++j) {
            int replaced = across + (letter != text[j]);
            across = row[j + 1];
            row[j + 1] = min(replaced, min(across, row[j]) + 1);
        }
    }
    distance[pair] = row[LENGTH];
}
