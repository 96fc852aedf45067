"""Matrix instructions: products of small whole numbers are exact in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.emulate.lift.ptx.harness import HEADER, execute
from warpwatt.emulate.formats import BITS, decode, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[Any]

PATTERNS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def packed(values: Matrix, kind: str) -> NDArray[np.uint8]:
    """Return a matrix's bytes in memory, row after row."""
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).reshape(-1).view(np.uint8)
    if kind == "tf32":
        kind = "f32"
    if kind in PATTERNS:
        return values.astype(PATTERNS[kind]).reshape(-1).view(np.uint8)
    if kind in ("s4", "u4"):
        flat = values.astype(np.int64).reshape(-1) & 15
        return (flat[0::2] | flat[1::2] << 4).astype(np.uint8)
    if kind == "b1":
        return np.packbits(values.astype(np.uint8).reshape(-1), bitorder="little")
    return values.astype(np.int32 if kind == "s32" else np.uint8).reshape(-1).view(np.uint8)


def small(shape: tuple[int, int], kind: str, seed: int) -> Matrix:
    """Return whole numbers that every format holds."""
    low = {"b1": 0, "u4": 0, "u8": 0}.get(kind, -4)
    high = 2 if kind == "b1" else 5
    return np.random.default_rng(seed).integers(low, high, shape)


WMMA = [
    # shape, kinds of a, b, c, d, registers of a, b, c, d
    ((16, 16, 16), "f16", "f32", 8, 8, 8),
    ((32, 8, 16), "f16", "f32", 8, 8, 8),
    ((8, 32, 16), "f16", "f16", 8, 8, 4),
    ((16, 16, 16), "f16", "f16", 8, 8, 4),
    ((16, 16, 16), "bf16", "f32", 4, 4, 8),
    ((8, 32, 16), "bf16", "f32", 2, 8, 8),
    ((16, 16, 8), "tf32", "f32", 4, 4, 8),
    ((8, 8, 4), "f64", "f64", 1, 1, 2),
    ((16, 16, 16), "s8", "s32", 2, 2, 8),
    ((32, 8, 16), "u8", "s32", 4, 1, 8),
    ((8, 32, 16), "u8", "s32", 1, 4, 8),
    ((8, 8, 32), "s4", "s32", 1, 1, 2),
    ((8, 8, 128), "b1", "s32", 1, 1, 2),
]


@pytest.mark.parametrize(("shape", "kind", "sums", "a_count", "b_count", "c_count"), WMMA)
@pytest.mark.parametrize("layouts", ["row.col", "row.row", "col.col", "col.row"])
def test_wmma(
    shape: tuple[int, int, int], kind: str, sums: str, a_count: int, b_count: int, c_count: int, layouts: str
) -> None:
    if BITS[kind] < 8 and layouts != "row.col":
        pytest.skip("elements below a byte lie one way only")
    m, n, k = shape
    text, a_layout, b_layout = _wmma_text(shape, kind, sums, (a_count, b_count, c_count), layouts)
    a, b, c = small((m, k), kind, 1), small((k, n), kind, 2), small((m, n), sums, 3)
    arrays = {
        "a": packed(a if a_layout == "row" else a.T, kind),
        "b": packed(b if b_layout == "row" else b.T, kind),
        "c": packed(c.T, sums),
        "d": np.zeros(m * n * BITS[sums] // 8, np.uint8),
    }
    found, _, routine = execute(text, {name: np.ascontiguousarray(v) for name, v in arrays.items()})
    assert not routine.uncovered
    wanted = (a[:, :, None] ^ b[None]).sum(1) + c if kind == "b1" else a @ b + c
    assert found["d"].tolist() == packed(wanted, sums).tolist()


def _wmma_text(
    shape: tuple[int, int, int], kind: str, sums: str, counts: tuple[int, int, int], layouts: str
) -> tuple[str, str, str]:
    a_layout, b_layout = layouts.split(".")
    m, n, k = shape
    name = f"m{m}n{n}k{k}"
    a, b, c = (", ".join(f"%{p}{i}" for i in range(count)) for p, count in zip("abc", counts, strict=True))
    wide = "b64" if kind == "f64" else "b32"
    types = f"{sums}.{sums}" if kind == "f16" else f"{sums}.{kind}.{kind}.{sums}"
    extra = ".xor.popc" if kind == "b1" else ""
    strides = {"a": k if a_layout == "row" else m, "b": n if b_layout == "row" else k}
    declared = "".join(
        f".reg .{w} %{p}<{count}>;"
        for p, w, count in zip("abc", (wide, wide, "b64" if sums == "f64" else "b32"), counts, strict=True)
    )
    text = HEADER + (
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n"
        f"{declared} .reg .b64 %p<5>; .reg .b32 %s; ld.param.u64 %p1, [pa]; ld.param.u64 %p2, [pb];\n"
        "ld.param.u64 %p3, [pc]; ld.param.u64 %p4, [pd];\n"
        f"mov.u32 %s, {strides['b']};\n"
        f"wmma.load.a.sync.aligned.{a_layout}.{name}.global.{kind} {{{a}}}, [%p1], {strides['a']};\n"
        f"wmma.load.b.sync.aligned.{b_layout}.{name}.global.{kind} {{{b}}}, [%p2], %s;\n"
        f"wmma.load.c.sync.aligned.col.{name}.{sums} {{{c}}}, [%p3];\n"
        f"wmma.mma{extra}.sync.aligned.{layouts}.{name}.{types} {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};\n"
        f"wmma.store.d.sync.aligned.row.{name}.global.{sums} [%p4], {{{c}}}, {n};\nret; }}"
    )
    return text, a_layout, b_layout


def documented(matrix: str, kind: str, k: int, register: int, part: int, lane: int) -> tuple[int, int]:
    """Return row and column of an element of mma.m16n8kK, from the formulas in PTX ISA 9.7.14.5."""
    group, thread = lane >> 2, lane % 4
    each = max(1, 32 // BITS[kind])
    i = register * each + part
    if matrix == "c":
        return (group if i < 2 else group + 8), thread * 2 + (i & 1)
    if matrix == "b":
        return thread * each + part + 4 * each * register, group
    if kind == "f64":
        return (group if i % 2 == 0 else group + 8), i // 2 * 4 + thread
    row = group if register % 2 == 0 else group + 8
    column = thread * each + part + (4 * each if i >= 2 * each else 0)
    del k
    return row, column


MMA = [("f16", 16, "f32"), ("f16", 8, "f16"), ("bf16", 16, "f32"), ("tf32", 8, "f32"), ("tf32", 4, "f32"),
       ("s8", 32, "s32"), ("u8", 16, "s32"), ("s4", 64, "s32"), ("f64", 8, "f64"), ("f64", 16, "f64"),
       ("b1", 256, "s32"), ("e4m3", 32, "f32"), ("e5m2", 32, "f32")]  # fmt: skip


@pytest.mark.parametrize(("kind", "k", "sums"), MMA)
def test_mma(kind: str, k: int, sums: str) -> None:
    """Registers are filled by the manual's formulas, and read back by them."""
    sizes = {"a": (16, k), "b": (k, 8), "c": (16, 8)}
    kinds = {"a": kind, "b": kind, "c": sums}
    values = {n: small(sizes[n], kinds[n] if kinds[n] in BITS else kind, at) for at, n in enumerate("abc")}
    registers = {n: _registers(values[n], n, kinds[n], k) for n in "abc"}
    counts = {n: len(r) for n, r in registers.items()}
    wide = {n: "b64" if BITS[kinds[n]] == 64 else "b32" for n in "abc"}
    arrays = {n: registers[n].T.copy().astype(np.uint64 if wide[n] == "b64" else np.uint32) for n in "abc"}
    lists = {n: ", ".join(f"%{n}{i}" for i in range(counts[n])) for n in "abc"}
    lines = [f".reg .{wide[n]} %{n}<{counts[n]}>;" for n in "abc"]
    for n in "abc":
        size = 8 if wide[n] == "b64" else 4
        lines.append(
            f"ld.param.u64 %p1, [p{n}]; mul.wide.u32 %p2, %i, {size * counts[n]}; add.s64 %p1, %p1, %p2;"
        )
        lines += [f"ld.global.{wide[n]} %{n}{i}, [%p1+{size * i}];" for i in range(counts[n])]
    extra = ".xor.popc" if kind == "b1" else ""
    lines.append(
        f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.{kind}.{kind}.{sums}{extra} "
        f"{{{lists['c']}}}, {{{lists['a']}}}, {{{lists['b']}}}, {{{lists['c']}}};"
    )
    size = 8 if wide["c"] == "b64" else 4
    lines += [f"st.global.{wide['c']} [%p1+{size * i}], %c{i};" for i in range(counts["c"])]
    text = HEADER + (
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc) { .reg .b64 %p<3>; .reg .b32 %i;\n"
        "mov.u32 %i, %tid.x;\n" + "\n".join(lines) + "\nret; }"
    )
    found, _, routine = execute(text, arrays)
    assert not routine.uncovered
    a, b, c = (values[n] for n in "abc")
    wanted = (a[:, :, None] ^ b[None]).sum(1) + c if kind == "b1" else a @ b + c
    assert found["c"].T.astype(np.uint64).tolist() == _registers(wanted, "c", sums, k).tolist()


def _registers(values: Matrix, matrix: str, kind: str, k: int) -> NDArray[np.uint64]:
    """Return registers of shape (registers, lanes) by the manual's formulas."""
    each = 2 if matrix == "c" and kind == "f16" else max(1, 32 // BITS[kind])
    count = values.size // 32 // each
    result = np.zeros((count, 32), np.uint64)
    for register in range(count):
        for part in range(each):
            for lane in range(32):
                row, column = documented(matrix, kind, k, register, part, lane)
                bits = _bits(values[row, column], kind)
                result[register, lane] |= np.uint64(bits << part * BITS[kind])
    return result


def _bits(value: Any, kind: str) -> int:
    if kind in ("e4m3", "e5m2"):
        patterns = np.arange(256, dtype=np.uint64)
        return int(np.flatnonzero(decode(patterns, kind) == float(value))[0])
    if kind in ("s4", "s8", "u8", "u4", "b1"):
        return int(value) & ((1 << BITS[kind]) - 1)
    if kind == "bf16":
        return int(np.float32(value).view(np.uint32)) >> 16
    form = "f32" if kind == "tf32" else kind
    return int(encode(np.array([value], np.int64 if form == "s32" else np.float64), form)[0])


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_through_shared_memory(count: int, transposed: bool) -> None:
    registers = ", ".join(f"%r{i}" for i in range(count))
    trans = ".trans" if transposed else ""
    text = HEADER + (
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 back) {\n"
        ".shared .align 16 .b8 s[512]; .shared .align 16 .b8 t[512]; .reg .b32 %r<8>; .reg .b32 %i<9>;\n"
        ".reg .b64 %p<9>; mov.u32 %i1, %tid.x; shl.b32 %i2, %i1, 4; mov.u32 %i3, s; add.u32 %i3, %i3, %i2;\n"
        "mov.u32 %i4, t; add.u32 %i4, %i4, %i2; ld.param.u64 %p1, [in]; mul.wide.u32 %p2, %i1, 16;\n"
        "add.s64 %p1, %p1, %p2; ld.global.v2.b64 {%p3, %p4}, [%p1]; st.shared.v2.b64 [%i3], {%p3, %p4};\n"
        f"bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%i3];\n"
        "ld.param.u64 %p5, [out]; add.s64 %p5, %p5, %p2;\n"
        + "".join(f"st.global.b32 [%p5+{4 * i}], %r{i};\n" for i in range(count))
        + f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%i4], {{{registers}}};\n"
        "ld.shared.v2.b64 {%p3, %p4}, [%i4]; ld.param.u64 %p6, [back]; add.s64 %p6, %p6, %p2;\n"
        "st.global.v2.b64 [%p6], {%p3, %p4}; ret; }"
    )
    data = np.arange(256, dtype=np.uint16)
    found, _, routine = execute(
        text, {"in": data, "out": np.zeros(128, np.uint32), "back": np.zeros(256, np.uint16)}
    )
    assert not routine.uncovered
    tiles = data.reshape(4, 8, 8)
    out = found["out"].reshape(32, 4)
    for tile in range(count):
        matrix = tiles[tile].T if transposed else tiles[tile]
        for lane in range(32):
            low, high = (int(matrix[lane // 4, 2 * (lane % 4) + j]) for j in range(2))
            assert out[lane, tile] == low | high << 16
    assert found["back"][: 64 * count].tolist() == data[: 64 * count].tolist()


def test_saturated_sums() -> None:
    text = HEADER + (
        ".visible .entry k(.param .u64 out) { .reg .b32 %c<4>; .reg .b64 %p<3>; .reg .b32 %i;"
        " mov.u32 %i, %tid.x;\n"
        "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%c0, %c1}, {0x7f7f7f7f}, {0x7f7f7f7f},\n"
        "{2147483600, -5}; mul.wide.u32 %p2, %i, 8; ld.param.u64 %p1, [out]; add.s64 %p1, %p1, %p2;\n"
        "st.global.v2.b32 [%p1], {%c0, %c1}; ret; }"
    )
    found, _, _ = execute(text, {"out": np.zeros(64, np.int32)})
    assert found["out"].tolist() == [2**31 - 1, 16 * 127 * 127 - 5] * 32
