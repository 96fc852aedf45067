"""A Triton kernel of a published search: int8 matrices times one another, scaled by blocks of 128.

Our own, of the shape that the search's launch and space show: bf16 = (int8 × int8ᵀ) scaled per row and 128
columns of the left, per 128 × 128 of the right; blocks in groups of rows.
"""

# mypy: allow-incomplete-defs, allow-untyped-decorators, allow-untyped-defs

import triton
import triton.language as tl


@triton.jit
def scaled_matmul(
    a, b, c, a_scale, b_scale, M, N, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):  # fmt: skip
    """Multiply an M × K by the transposed N × K matrix; one block of the result per program."""
    number = tl.program_id(0)
    group = GROUP_SIZE_M * tl.cdiv(N, BLOCK_SIZE_N)
    first = number // group * GROUP_SIZE_M
    height = tl.minimum(tl.cdiv(M, BLOCK_SIZE_M) - first, GROUP_SIZE_M)
    down, across = first + number % group % height, number % group // height
    rows = (down * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    columns = (across * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    deep = tl.arange(0, BLOCK_SIZE_K)
    left, right = a + rows[:, None] * K + deep[None, :], b + columns[None, :] * K + deep[:, None]
    left_scale, right_scale = a_scale + rows * (K // 128), b_scale + columns // 128 * (K // 128)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), tl.float32)
    for step in range(tl.cdiv(K, BLOCK_SIZE_K)):
        inside = deep < K - step * BLOCK_SIZE_K
        x = tl.load(left, mask=inside[None, :], other=0)
        y = tl.load(right, mask=inside[:, None], other=0)
        at = step * BLOCK_SIZE_K // 128
        scale = tl.load(left_scale + at)[:, None] * tl.load(right_scale + at)[None, :]
        total += tl.dot(x, y).to(tl.float32) * scale
        left += BLOCK_SIZE_K
        right += BLOCK_SIZE_K
    rows = down * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    columns = across * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16), mask=inside)
