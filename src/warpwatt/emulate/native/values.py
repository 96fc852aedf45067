"""Values of a block as LLVM text: lanes side by side in a vector, or one scalar for all of them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Type
from warpwatt.emulate.native.records import MACHINE, offset_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.emulate.ir import Value

_SCALARS = {
    Type.I1: "i1",
    Type.I8: "i8",
    Type.I16: "i16",
    Type.I32: "i32",
    Type.I64: "i64",
    Type.F16: "i16",
    Type.F32: "float",
    Type.F64: "double",
}
"""LLVM type of each type. f16 is kept as bits, because few processors compute with it."""


def scalar_type(type_: Type) -> str:
    """Return the LLVM type of one lane."""
    return _SCALARS[type_]


def vector_type(type_: Type) -> str:
    """Return the LLVM type of all lanes."""
    return f"<32 x {_SCALARS[type_]}>"


def suffix(llvm_type: str) -> str:
    """Return how intrinsics name a type.

    >>> suffix("<32 x float>"), suffix("i64")
    ('v32f32', 'i64')
    """
    short = llvm_type.replace("float", "f32").replace("double", "f64").replace("half", "f16")
    return short.replace("<32 x ", "v32").replace(">", "")


def literal(type_: Type, data: float) -> str:
    """Return a constant in LLVM text.

    >>> literal(Type.I8, 255), literal(Type.F32, 1.0)
    ('255', 'bitcast (i32 1065353216 to float)')
    """
    if not type_.is_float:
        return ("true" if int(data) & 1 else "false") if type_ is Type.I1 else str(int(data))
    bits = literal_bits(type_, data)
    return str(bits) if type_ is Type.F16 else f"bitcast (i{type_.bits} {bits} to {scalar_type(type_)})"


def literal_bits(type_: Type, data: float) -> int:
    """Return the bits of a constant, which wraps to the width.

    >>> literal_bits(Type.I8, -1), literal_bits(Type.F32, 1.0) == 0x3F800000
    (255, True)
    """
    if not type_.is_float:
        return int(data) & ((1 << type_.bits) - 1)
    if type_ is Type.F16:
        return int.from_bytes(struct.pack("<e", _half(data)), "little")
    return int.from_bytes(struct.pack("<d", data), "little") if type_ is Type.F64 else _single(data)


def _single(data: float) -> int:
    """Return the bits of a number as f32; beyond its range, infinity."""
    try:
        return int.from_bytes(struct.pack("<f", data), "little")
    except OverflowError:
        return 0xFF800000 if data < 0 else 0x7F800000


def _half(data: float) -> float:
    """Return a number that fits f16; beyond its range, infinity."""
    return float("inf") if data >= 65520 else float("-inf") if data <= -65520 else data


class Text:
    """The LLVM text of one function while it is written.

    ``values`` holds what each :class:`~warpwatt.emulate.ir.Value` is in the text, ``scalars`` those kept
    as one scalar; ``active`` names the active lanes as ``<32 x i1>``, ``active_bits`` as ``i32``.
    ``length`` is what executing the block takes off the budget.
    """

    active, active_bits = "%act", "%a"

    def __init__(self, length: int) -> None:
        self.length = length
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.scalars: set[int] = set()
        self.sums: dict[int, tuple[Value, int]] = {}
        """Addresses that are written as a base and what is added to it."""
        self._vectors: dict[int, str] = {}
        self._slots: dict[int, str] = {}
        self._count = 0

    def name(self) -> str:
        """Return a fresh name."""
        self._count += 1
        return f"%t{self._count}"

    def let(self, expression: str) -> str:
        """Add a line that names the value of an expression; return the name."""
        name = self.name()
        self.lines.append(f"  {name} = {expression}")
        return name

    def do(self, statement: str) -> None:
        """Add a line."""
        self.lines.append(f"  {statement}")

    def label(self, name: str) -> None:
        """Start an LLVM block."""
        self.lines.append(f"{name}:")

    # -- values ---------------------------------------------------------------------------------------

    def bind(self, value: Value, name: str, *, scalar: bool) -> None:
        """Say what a value is called."""
        self.values[value.index] = name
        if scalar:
            self.scalars.add(value.index)

    def is_scalar(self, *values: Value) -> bool:
        """Whether all of some values are scalars."""
        return all(value.index in self.scalars for value in values)

    def kind(self, type_: Type, *, scalar: bool) -> str:
        """Return the LLVM type of a scalar or a vector."""
        return scalar_type(type_) if scalar else vector_type(type_)

    def vector(self, value: Value) -> str:
        """Return a value as a vector."""
        name = self.values[value.index]
        if value.index not in self.scalars:
            return name
        if value.index not in self._vectors:
            self._vectors[value.index] = self.splat(value.type, name)
        return self._vectors[value.index]

    def scalar(self, value: Value) -> str:
        """Return a value as a scalar: that of the first active lane where it is a vector."""
        name = self.values[value.index]
        if value.index in self.scalars:
            return name
        first = self.let(f"call i32 @llvm.cttz.i32(i32 {self.active_bits}, i1 true)")
        return self.let(f"extractelement {vector_type(value.type)} {name}, i32 {first}")

    def operand(self, value: Value, *, scalar: bool) -> str:
        """Return a value in the wanted form."""
        return self.scalar(value) if scalar else self.vector(value)

    def splat(self, type_: Type, name: str) -> str:
        """Return a vector of one scalar."""
        kind = scalar_type(type_)
        if not name.startswith("%"):
            return f"splat ({kind} {name})"
        if type_ is Type.I1:
            return self.let(f"bitcast i32 {self.let(f'sext i1 {name} to i32')} to <32 x i1>")
        one = self.let(f"insertelement <32 x {kind}> poison, {kind} {name}, i32 0")
        return self.let(
            f"shufflevector <32 x {kind}> {one}, <32 x {kind}> poison, <32 x i32> zeroinitializer"
        )

    def slot(self, value: Value, wide: Callable[[Value], str]) -> str:
        """Return a pointer to a value's lanes, as ``wide`` makes 64 bits of them; stored once."""
        if value.index not in self._slots:
            name = f"%s{len(self._slots)}"
            self.lines.insert(1, f"  {name} = alloca <32 x i64>, align 64")
            self.do(f"store <32 x i64> {wide(value)}, ptr {name}, align 64")
            self._slots[value.index] = name
        return self._slots[value.index]

    # -- lanes as bits --------------------------------------------------------------------------------

    def bits(self, value: Value) -> str:
        """Return an I1 value as i32, a bit per lane."""
        if self.is_scalar(value):
            name = self.values[value.index]
            if not name.startswith("%"):
                return "-1" if name == "true" else "0"
            return self.let(f"sext i1 {name} to i32")
        return self.let(f"bitcast <32 x i1> {self.vector(value)} to i32")

    def on(self, mask: Value | None) -> str:
        """Return the active lanes where a mask holds, as i32."""
        if mask is None:
            return self.active_bits
        return self.let(f"and i32 {self.active_bits}, {self.bits(mask)}")

    def on_lanes(self, mask: Value | None) -> str:
        """Return the same as ``<32 x i1>``."""
        if mask is None:
            return self.active
        return self.let(f"and <32 x i1> {self.active}, {self.vector(mask)}")

    # -- memory ---------------------------------------------------------------------------------------

    def failed(self) -> str:
        """Return whether the run has met a fault, as ``i1``."""
        return self.let(f"icmp ne i32 {self.load('i32', '%m', offset_of(MACHINE, 'fault.reason'))}, 0")

    def at(self, base: str, offset: int) -> str:
        """Return a pointer ``offset`` bytes behind another."""
        return self.let(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, kind: str, base: str, offset: int, align: int = 0) -> str:
        """Return what lies ``offset`` bytes behind a pointer."""
        aligned = f", align {align}" if align else ""
        return self.let(f"load {kind}, ptr {self.at(base, offset)}{aligned}")

    def store(self, kind: str, name: str, base: str, offset: int, align: int = 0) -> None:
        """Write ``offset`` bytes behind a pointer."""
        aligned = f", align {align}" if align else ""
        self.do(f"store {kind} {name}, ptr {self.at(base, offset)}{aligned}")
