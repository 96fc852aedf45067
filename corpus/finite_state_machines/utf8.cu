// Validates strings of UTF-8, one a thread, by a state machine: how many continuation bytes are due and in which range
// the next must lie. Limited by uncoalesced byte loads and divergence.
extern "C" __global__ void utf8(int n, int length, const unsigned char *__restrict__ text,
                                unsigned char *__restrict__ valid)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned char *string = text + (long long)i * length;
    int due = 0, low = 0x80, high = 0xbf;
    bool good = true;
    for (int k = 0; k < length && good; ++k) {
        int byte = string[k];
        if (due > 0) {
            good = byte >= low && byte <= high;
            --due;
            low = 0x80;
            high = 0xbf;
        } else if (byte >= 0x80) {
            good = byte >= 0xc2 && byte <= 0xf4;
            due = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
            low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;  // no overlong forms
            high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;  // no surrogates, nothing above U+10FFFF
        }
    }
    valid[i] = good && due == 0;
}
