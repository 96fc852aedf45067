"""Matrix instructions of a warp (PTX ISA 9.7.14): mma, wmma, ldmatrix, stmatrix, movmatrix.

Products are the runtime function ``mma``; loads and stores of fragments are ordinary ones, laid out by the
rule of :mod:`warpwatt.emulate.fragments`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.program import Immediate, Instruction
from warpwatt.emulate.formats import BITS
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift.driver import UncoveredError
from warpwatt.emulate.lift.ptx.memory import space_of
from warpwatt.emulate.lift.ptx.patterns import immediate
from warpwatt.emulate.lift.warp import load_matrices, store_matrices, transpose

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.ptx.opcode import Opcode
    from warpwatt.emulate.lift.ptx.operands import PtxBuilder
    from warpwatt.emulate.lift.ptx.patterns import Semantics

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)", re.ASCII)
_WHOLE_WARP = Immediate(0xFFFFFFFF, "-1")
_UNLIKE = ("sp", "sp::ordered_metadata", "block_scale")
"""Modifiers of products whose operands are laid out otherwise."""


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Matrix ``a``, ``b`` or ``c`` of a product: how many registers of which type a lane holds of it."""

    name: str
    rows: int
    columns: int
    bits: int

    @property
    def registers(self) -> int:
        """Registers per lane, without the copies that wmma keeps of some."""
        return self.rows * self.columns // 32 * self.bits // self.type.bits

    @property
    def type(self) -> Type:
        """Type of a register."""
        return Type.I64 if self.bits == 64 else Type.I32


def _shape(how: Opcode) -> tuple[int, int, int]:
    match = next((m for w in how.words if (m := _SHAPE.fullmatch(w))), None)
    if match is None:
        raise UncoveredError
    return int(match[1]), int(match[2]), int(match[3])


def _matrix(name: str, shape: tuple[int, int, int], kind: str) -> _Matrix:
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[name]
    return _Matrix(name, rows, columns, BITS[kind])


def _product(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``mma`` and ``wmma.mma``; two types are those of D and C, A and B being f16."""
    shape = _shape(how)
    kinds = (how.kinds[0], "f16", "f16", how.kinds[1]) if len(how.kinds) == 2 else how.kinds
    if len(kinds) != 4 or how.has(*_UNLIKE) or not all(k in BITS for k in kinds):
        raise UncoveredError
    if how.name == "mma" and shape == (8, 8, 4) and kinds[1] == "f16":
        raise UncoveredError  # of Volta: four products by quarters of the warp, laid out otherwise
    d, a, second, c = kinds
    inputs = [_matrix("a", shape, a), _matrix("b", shape, second), _matrix("c", shape, c)]
    result = _matrix("c", shape, d)
    modifiers = tuple(w for w in how.words if w in ("satfinite", "xor", "and"))
    constants = (*shape, a, second, c, d, *modifiers)
    b.gather(_WHOLE_WARP)
    args = [
        b.read(o, matrix.type)
        for matrix, operand in zip(inputs, i.operands[1:4], strict=True)
        for o in b.elements(operand)[: matrix.registers]
    ]
    values = b.call("mma", constants, (result.type, result.registers), *args)
    for target, value in zip(b.elements(i.operands[0]), values, strict=False):
        b.write(target, value)


# -- fragments in memory ----------------------------------------------------------------------------------


def _load(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``wmma.load``."""
    matrix, along_rows = _located(how)
    space = space_of(how)
    b.gather(_WHOLE_WARP)
    places = _Places(b, matrix, b.address(i.operands[1], space), _stride(b, i, matrix, 2, along_rows))
    values = places.load(space, along_rows)
    for at, target in enumerate(b.elements(i.operands[0])):
        b.write(target, values[at % len(values)])


def _store(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    """Lift ``wmma.store``."""
    matrix, along_rows = _located(how)
    space = space_of(how)
    b.gather(_WHOLE_WARP)
    places = _Places(b, matrix, b.address(i.operands[0], space), _stride(b, i, matrix, 2, along_rows))
    values = [b.read(o, matrix.type) for o in b.elements(i.operands[1])]
    places.store(space, along_rows, values[: matrix.registers])


def _located(how: Opcode) -> tuple[_Matrix, bool]:
    """Return the matrix an opcode loads or stores, and whether neighbours in a register lie side by side."""
    name = "c" if how.has("store") else how.words[1]
    matrix = _matrix(name, _shape(how), how.kind)
    along = how.has("col") if name == "b" else how.has("row")
    if matrix.bits < 8 and not along:
        raise UncoveredError
    return matrix, along


def _stride(b: PtxBuilder, i: Instruction, matrix: _Matrix, at: int, along: bool) -> int | Value:
    """Return elements between rows (or columns): the operand, or as if the matrix stood alone."""
    if at < len(i.operands):
        constant = immediate(i, at)
        return b.read(i.operands[at], Type.I32) if constant is None else constant
    by_row = along != (matrix.name == "b")
    return matrix.columns if by_row else matrix.rows


class _Places:
    """Where the elements of a fragment lie: addresses for each register of a lane.

    *Outer* is the index that registers do not run along (rows of A and C, columns of B), *inner* the other.
    """

    def __init__(self, b: PtxBuilder, matrix: _Matrix, base: Value, stride: int | Value) -> None:
        self.b, self.matrix, self.base = b, matrix, base
        self.stride = b.i32(stride) if isinstance(stride, int) else stride
        lane = b.lane()
        self.group, self.pair = b.lshr(lane, 2), b.and_(lane, b.i32(3))
        self.each = 2 if matrix.name == "c" else max(1, 32 // matrix.bits)
        """Neighbours along the inner index in one lane: of a register, or of a pair in C."""
        outer = matrix.columns if matrix.name == "b" else matrix.rows
        inner = matrix.rows if matrix.name == "b" else matrix.columns
        self.chunks = [
            (8 * o, 4 * self.each * i)
            for o, i in (
                ((o, i) for o in range(outer // 8) for i in range(inner // (4 * self.each)))
                if matrix.name == "b"
                else ((o, i) for i in range(inner // (4 * self.each)) for o in range(outer // 8))
            )
        ]

    def load(self, space: str, along: bool) -> list[Value]:
        """Return the registers."""
        b, matrix = self.b, self.matrix
        values: list[Value] = []
        for outer, inner in self.chunks:
            if along:
                type_, count = self._unit()
                values += b.load(space, self._address(outer, inner, 0, along=True), type_, count)
            else:
                element = Type(f"i{matrix.bits}")
                parts = [
                    b.load(space, self._address(outer, inner, k, along=False), element)[0]
                    for k in range(self.each)
                ]
                values += self._joined(parts)
        return values

    def store(self, space: str, along: bool, values: Sequence[Value]) -> None:
        """Write the registers."""
        b, matrix = self.b, self.matrix
        each = len(values) // len(self.chunks)
        for at, (outer, inner) in enumerate(self.chunks):
            own = values[at * each : (at + 1) * each]
            if along:
                b.store(space, self._address(outer, inner, 0, along=True), *own)
                continue
            element = Type(f"i{matrix.bits}")
            for k in range(self.each):
                word = own[k * each // self.each]
                shift = k * matrix.bits % word.type.bits
                part = b.fit(b.lshr(word, shift) if shift else word, element)
                b.store(space, self._address(outer, inner, k, along=False), part)

    def _unit(self) -> tuple[Type, int]:
        """Return the type and number of registers that a chunk fills in a lane."""
        bits = self.each * self.matrix.bits
        type_ = self.matrix.type
        return type_, max(1, bits // type_.bits)

    def _joined(self, parts: list[Value]) -> list[Value]:
        """Return elements packed into registers."""
        b, matrix = self.b, self.matrix
        if matrix.bits >= 32:
            return parts
        result = b.zext(parts[0], Type.I32)
        for k, part in enumerate(parts[1:], start=1):
            result = b.or_(result, b.shl(b.zext(part, Type.I32), k * matrix.bits))
        return [result]

    def _address(self, outer: int, inner: int, k: int, *, along: bool) -> Value:
        """Return the address of element ``k`` of the chunk that begins at (outer, inner)."""
        b = self.b
        row = b.add(self.group, b.i32(outer)) if outer else self.group
        column = b.mul(self.pair, b.i32(self.each)) if self.each > 1 else self.pair
        column = b.add(column, b.i32(inner + k)) if inner + k else column
        strided, plain = (row, column) if along else (column, row)
        index = b.add(b.mul(strided, self.stride), plain)
        bits = self.matrix.bits
        offset = b.mul(index, b.i32(bits // 8)) if bits >= 8 else b.lshr(b.mul(index, b.i32(bits)), 3)
        return b.add(self.base, b.fit(offset, self.base.type))


# -- 8 x 8 matrices ---------------------------------------------------------------------------------------


def _load_matrix(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    count, space = _tiles(how)
    b.gather(_WHOLE_WARP)
    values = load_matrices(b, space, b.address(i.operands[1], space), count, transposed=how.has("trans"))
    for target, value in zip(b.elements(i.operands[0]), values, strict=True):
        b.write(target, value)


def _store_matrix(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    count, space = _tiles(how)
    b.gather(_WHOLE_WARP)
    values = [b.read(o, Type.I32) for o in b.elements(i.operands[1])[:count]]
    store_matrices(b, space, b.address(i.operands[0], space), values, transposed=how.has("trans"))


def _tiles(how: Opcode) -> tuple[int, str]:
    if not how.has("m8n8") or how.kind != "b16":
        raise UncoveredError
    return next(int(w[1]) for w in how.words if w in ("x1", "x2", "x4")), space_of(how)


def _move_matrix(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    b.gather(_WHOLE_WARP)
    value = b.read(i.operands[1], Type.I32)
    b.write(i.operands[0], transpose(b, value) if how.has("trans") else value)


def _wmma(b: PtxBuilder, how: Opcode, i: Instruction) -> None:
    {"load": _load, "store": _store, "mma": _product}[how.words[0]](b, how, i)


TABLE: dict[str, Semantics] = {
    "mma": _product,
    "wmma": _wmma,
    "ldmatrix": _load_matrix,
    "stmatrix": _store_matrix,
    "movmatrix": _move_matrix,
}
