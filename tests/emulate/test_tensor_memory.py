"""Tensor memory's products, copies, loads and stores, and products with scales, beside NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.emulate.lift.sass.machine import execute
from warpwatt.emulate.formats import decode
from warpwatt.emulate.fragments import fragment
from warpwatt.emulate.functions import FUNCTIONS, scaled_mma
from warpwatt.emulate.tensor_memory import copy, load, multiply, store

MASK = np.arange(32) == 0


@dataclass
class Block:
    tensor: Any = field(default_factory=lambda: np.zeros((128, 512), np.uint32))
    memory: Any = field(default_factory=lambda: np.zeros(1 << 16, np.uint8))

    def shared(self, offset, size):
        return self.memory[offset : offset + size].tobytes()


class Caller:
    def __init__(self, blocks=1):
        self.blocks = [Block() for _ in range(blocks)]

    def side(self, step: int) -> Any:
        return self.blocks[step]

    def allocate(self, columns: int) -> int:
        return 0


def words(*numbers):
    return np.repeat(np.array(numbers, np.uint64)[:, None], 32, axis=1)


def put(block, matrix, start):
    """Lay rows of at most 128 bytes swizzled (128 B), and return the two words of their descriptor."""
    rows, size = matrix.shape
    units = matrix.reshape(rows, size // 16, 16)
    for row in range(rows):
        for unit in range(size // 16):
            at = start + 128 * row + 16 * (unit ^ row % 8)
            block.memory[at : at + 16] = units[row, unit]
    word = start >> 4 | 1 << 16 | 64 << 32 | 1 << 46 | 2 << 61
    return word & 0xFFFFFFFF, word >> 32


def halves(shape, seed):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float16)


@pytest.mark.parametrize(("m", "pair"), [(64, False), (128, False), (128, True), (256, True)])
@pytest.mark.parametrize("adds", [0, 1])
def test_product_of_halves_in_all_layouts(m, pair, adds):
    n, k, sides = 64, 16, 1 + pair
    caller = Caller(sides)
    a, b = halves((m, k), 1), halves((n, k), 2)
    for side, block in enumerate(caller.blocks):
        rows = a[side * m // sides : (side + 1) * m // sides]
        a_word = put(block, np.ascontiguousarray(rows).view(np.uint8), 0)
        b_word = put(
            block, np.ascontiguousarray(b[side * n // sides : (side + 1) * n // sides]).view(np.uint8), 32768
        )
        block.tensor[:] = np.float32(3).view(np.uint32)
    kind = 1 << 4 | n // 8 << 17 | m // 16 << 24
    multiply(caller, words(*a_word, *b_word, 8, kind, adds), MASK, ("UTCHMMA", k, False, 0, pair))
    wanted = a.astype(np.float64) @ b.astype(np.float64).T + 3 * adds
    for side, block in enumerate(caller.blocks):
        rows = wanted[side * m // sides : (side + 1) * m // sides]
        held = block.tensor.view(np.float32)
        if m == 64:
            found = np.concatenate([held[32 * w : 32 * w + 16, 8 : 8 + n] for w in range(4)])
        elif pair and m == 128:
            found = np.concatenate([held[:64, 8 : 8 + n // 2], held[64:, 8 : 8 + n // 2]], axis=1)
        else:
            found = held[:, 8 : 8 + n]
        assert (found == rows).all()


def test_block_scales_of_four_bit_floats():
    caller, rng = Caller(), np.random.default_rng(3)
    block, m, n, k = caller.blocks[0], 128, 32, 64
    a, b = (
        rng.integers(0, 256, (m, k // 2), dtype=np.uint8),
        rng.integers(0, 256, (n, k // 2), dtype=np.uint8),
    )
    a_word, b_word = put(block, a, 0), put(block, b, 32768)
    scales = rng.integers(0x30, 0x40, (m + n, 4), dtype=np.uint8)  # ue4m3: 0.5 to 1.875
    for row in range(m + n):
        at = row if row < m else row - m
        column = (100 if row < m else 200) + at // 32
        block.tensor[at % 32, column] = scales[row].view(np.uint32)[0]
    kind = 1 << 7 | 1 << 10 | n // 8 << 17 | m // 16 << 24
    values = words(*a_word, *b_word, 0, kind, 0, 100, 200)
    multiply(caller, values, MASK, ("UTCOMMA", k, False, 16, False))

    def floats(packed):
        pairs = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), k)
        return decode(pairs.astype(np.uint64), "e2m1")

    factor = np.repeat(decode(scales.astype(np.uint64), "e4m3"), 16, axis=1)
    wanted = (floats(a) * factor[:m]) @ (floats(b) * factor[m:]).T
    assert (block.tensor.view(np.float32)[:, :n] == wanted.astype(np.float32)).all()


@pytest.mark.parametrize(("shape", "registers"), [("32x32b", 8), ("16x128b", 4), ("16x256b", 8)])
def test_what_is_stored_is_loaded(shape, registers):
    caller, data = Caller(), np.random.default_rng(4).integers(0, 1 << 32, (registers, 32), dtype=np.uint64)
    address = words(32 << 16 | 5)
    store(caller, np.concatenate([address, data]), MASK, (shape, registers))
    assert (load(caller, address, MASK, (shape, registers)) == data).all()
    assert np.count_nonzero(caller.blocks[0].tensor) == data.size


@pytest.mark.parametrize("half", [0, 1])
def test_half_of_the_threads_stores_sixteen_lanes(half):
    """PTX's 16x32bx2: threads 0 to 15 at the address, 16 to 31 at another, both in the same sixteen lanes."""
    caller, data = Caller(), np.random.default_rng(4).integers(1, 1 << 32, (4, 32), dtype=np.uint64)
    threads, shape = slice(16 * half, 16 * half + 16), f"16x32b half {half}"
    address = words(32 << 16 | 5)
    store(caller, np.concatenate([address, data]), MASK, (shape, 4))
    assert (data[:, threads] == caller.blocks[0].tensor[32:48, 5:9].T).all()
    assert np.count_nonzero(caller.blocks[0].tensor) == 4 * 16
    assert (load(caller, address, MASK, (shape, 4))[:, threads] == data[:, threads]).all()


def test_threads_that_do_not_load_keep_their_registers(monkeypatch):
    before = {"UR4": np.zeros(32), "R2": np.arange(32) + 1, "R3": np.arange(32) + 100}
    monkeypatch.setitem(FUNCTIONS, "tensor load", lambda args, mask, constants: np.zeros((2, 32), np.uint64))
    lines = ["LDTM.16dp32bit_t0_t15.x2 R2, tmem[UR4+0x80]", "LDTM.16dp32bit_t16_t31.x2 R2, tmem[UR4+0x82]"]
    lower = execute(lines[:1], before, ["R2", "R3"])
    assert (lower["R2"] == np.where(np.arange(32) < 16, 0, before["R2"])).all()
    assert (execute(lines, before, ["R3"])["R3"] == 0).all()


def test_accumulators_of_a_load_lie_as_those_of_mma():
    caller, layout = Caller(), fragment("c", 16, 16, 32)
    matrix = np.arange(256, dtype=np.uint32).reshape(16, 16)
    caller.blocks[0].tensor[:16, :16] = matrix
    found = load(caller, words(0), MASK, ("16x256b", 8))
    assert (layout.gather(found) == matrix).all()


def test_copy_repeats_rows_for_each_warp():
    caller, rows = Caller(), np.random.default_rng(5).integers(0, 256, (32, 16), dtype=np.uint8)
    caller.blocks[0].memory[256:768] = rows.reshape(-1)
    word = 256 >> 4 | 8 << 32 | 1 << 46
    copy(caller, words(7, word & 0xFFFFFFFF, word >> 32), MASK, (32, 16, 4, False))
    for warp in range(4):
        held = caller.blocks[0].tensor[32 * warp : 32 * warp + 32, 7:11]
        assert (np.ascontiguousarray(held).view(np.uint8) == rows).all()


def test_scaled_mma_is_that_of_matrices():
    rng, (m, n, k) = np.random.default_rng(6), (16, 8, 64)
    a, b = rng.integers(0, 16, (m, k)).astype(np.uint64), rng.integers(0, 16, (k, n)).astype(np.uint64)
    c = rng.integers(-4, 5, (m, n)).astype(np.float32)
    a_scales, b_scales = rng.integers(0x30, 0x40, (m, 4)), rng.integers(0x30, 0x40, (n, 4))
    registers = np.zeros((2, 32), np.uint64)
    weights = 256 ** np.arange(4)
    for row in range(m):
        registers[0, 4 * (row % 8) + row // 8] = (a_scales[row] * weights).sum()
    for column in range(n):
        registers[1, 4 * column] = (b_scales[column] * weights).sum()
    given = np.concatenate([
        fragment("a", m, k, 4).scatter(a), fragment("b", k, n, 4).scatter(b),
        fragment("c", m, n, 32).scatter(c.view(np.uint32).astype(np.uint64)), registers,
    ])  # fmt: skip
    found = scaled_mma(given, MASK, (m, n, k, "e2m1", "e2m1", 16, "ue4m3"))
    left = decode(a, "e2m1") * np.repeat(decode(a_scales.astype(np.uint64), "e4m3"), 16, axis=1)
    right = decode(b, "e2m1") * np.repeat(decode(b_scales.astype(np.uint64), "e4m3"), 16, axis=1).T
    got = fragment("c", m, n, 32).gather(found).astype(np.uint32).view(np.float32)
    assert (got == (left @ right + c).astype(np.float32)).all()


def test_registers_from_the_pool_are_always_there():
    found = execute(["USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8"], {"UP0": np.zeros(32)}, ["UP0"])
    assert (found["UP0"] == 1).all()


def test_lanes_whose_register_differs_from_the_first_ones():
    values = np.arange(32) % 3 + 5
    found = execute(["R2UR P1, UR4, R2"], {"R2": values, "P1": np.zeros(32)}, ["P1", "UR4"])
    assert (found["P1"] == (values != 5)).all()
    assert (found["UR4"] == 5).all()
