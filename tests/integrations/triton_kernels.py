"""Triton kernels of the usual kinds: streaming, reduction, normalisation, matrix multiplication."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + at, values / tl.sum(values, 0), mask=at < columns)


@triton.jit
def layer_norm(x, y, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + eps)
    result = centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(y + row * columns + at, result, mask=inside)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    deep = tl.arange(0, BK)
    left = a + rows[:, None] * K + deep[None, :]
    right = b + deep[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit(do_not_specialize=["plain"], do_not_specialize_on_alignment=["odd", "near"])
def specialised(
    pointer, near, whole, odd, plain, share, flag, wide: tl.int64, half: tl.float16, none, C: tl.constexpr
):
    pass


CONFIGURATIONS = [
    triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=3),
    triton.Config({"BM": 16, "BN": 16, "BK": 16}, num_warps=4, num_stages=2),
    triton.Config({"BM": 256, "BN": 256, "BK": 64}, num_warps=8, num_stages=4),
]
"""Of the matrix multiplication: a usual one, one far too small, one that no A100 has shared memory for."""

tuned_matmul = triton.autotune(CONFIGURATIONS, key=["M", "N", "K"])(matmul)
enough = {"BLOCK": lambda values: triton.next_power_of_2(values["columns"])}
with_heuristics = triton.heuristics(enough)(softmax)


@triton.jit
def experts(
    a_ptr, b_ptr, c_ptr, sorted_token_ids_ptr, expert_ids_ptr, num_tokens_post_padded_ptr,
    N, K, EM, num_valid_tokens, stride_am, stride_be, stride_bn, stride_cm,
    top_k: tl.constexpr, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):  # fmt: skip
    """Rows of tokens times the matrix of each row's expert; arguments as servers of models name them."""
    down, across = tl.cdiv(EM, BLOCK_SIZE_M), tl.cdiv(N, BLOCK_SIZE_N)
    group = tl.program_id(0) // (GROUP_SIZE_M * across)
    high = tl.minimum(down - group * GROUP_SIZE_M, GROUP_SIZE_M)
    inside = tl.program_id(0) % (GROUP_SIZE_M * across)
    tile = group * GROUP_SIZE_M + inside % high
    if tile * BLOCK_SIZE_M >= tl.load(num_tokens_post_padded_ptr):
        return
    rows = tl.load(sorted_token_ids_ptr + tile * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)).to(tl.int64)
    real = rows < num_valid_tokens
    columns = ((inside // high * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N).to(tl.int64)
    deep = tl.arange(0, BLOCK_SIZE_K)
    expert = tl.load(expert_ids_ptr + tile).to(tl.int64)
    left = a_ptr + rows[:, None] // top_k * stride_am + deep[None, :]
    right = b_ptr + expert * stride_be + columns[None, :] * stride_bn + deep[:, None]
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), tl.float32)
    for step in range(tl.cdiv(K, BLOCK_SIZE_K)):
        rest = K - step * BLOCK_SIZE_K
        some = tl.load(left, mask=real[:, None] & (deep[None, :] < rest), other=0.0)
        total = tl.dot(some, tl.load(right, mask=deep[:, None] < rest, other=0.0), total)
        left += BLOCK_SIZE_K
        right += BLOCK_SIZE_K
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], total.to(tl.bfloat16), mask=real[:, None])
