"""The experiments of Resios (2011), chapter 7, as C functions of ours: what the thesis describes of them."""

from __future__ import annotations

MUL = (
    "void mul(int n, int *restrict out, int b) {\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        int a = i;\n"
    "        for (int turn = 0; turn < 1024; turn++) {\n" + "            a = a * b;\n" * 128 + "        }\n"
    "        out[i] = a;\n    }\n}\n"
)
"""Section 7.1: 128 dependent multiplications, unrolled, in a loop of 1024 iterations (Listing 3.4)."""
MADD = MUL.replace("void mul(", "void madd(").replace("a = a * b;", "a = a * b + turn;")
"""The same with ``a * b + c``, two operations to an intermediate code that knows no multiply-add."""
MEMCPY = """\
void copy(int n, float *restrict dst, const float *restrict src) {
    for (int i = 0; i < n; i++)
        dst[i] = src[i];
}
"""
TRANSPOSE = """\
void transpose(int size_x, int size_y, float *restrict odata, const float *restrict idata) {
    for (int y = 0; y < size_y; ++y)
        for (int x = 0; x < size_x; ++x)
            odata[x * size_y + y] = idata[y * size_x + x];
}
"""
CONVOLUTION = """\
void convolve(int image_width, int image_height, int filter_width, int filter_height,
              const unsigned char *restrict in_image, unsigned char *restrict out_image,
              const int *restrict filter, float gain) {
    for (int y = 0; y < image_height; y++)
        for (int x = 0; x < image_width * 3; x += 3) {
            unsigned char *out_row = out_image + y * image_width * 3;
            int red = 0, green = 0, blue = 0;
            for (int fy = 0; fy < filter_height; fy++) {
                const unsigned char *in_row = in_image + (y + fy) * (image_width + filter_width) * 3;
                for (int fx = 0; fx < filter_width; fx++) {
                    int px = x + 3 * fx;
                    int coefficient = filter[fx + fy * filter_width];
                    red += in_row[px] * coefficient;
                    green += in_row[px + 1] * coefficient;
                    blue += in_row[px + 2] * coefficient;
                }
            }
            out_row[x] = red * gain;
            out_row[x + 1] = green * gain;
            out_row[x + 2] = blue * gain;
        }
}
"""
"""Section 7.2 with a padded input in place of the omitted checks along the edges."""
SIZES: dict[str, dict[str, int | float]] = {
    "mul": {"n": 1024, "b": 3},
    "madd": {"n": 1024, "b": 3},
    "memcpy": {"n": 1 << 20},
    "transpose": {"size_x": 1024, "size_y": 1024},
    "convolution": {
        "image_width": 512,
        "image_height": 512,
        "filter_width": 5,
        "filter_height": 5,
        "gain": 0.04,
    },
}
"""Sizes of ours: the thesis gives the 1024 threads of the first two, and none of the others."""
PROGRAMS = {"mul": MUL, "madd": MADD, "memcpy": MEMCPY, "transpose": TRANSPOSE, "convolution": CONVOLUTION}
