"""What PTX instructions compute, as symbolic values (PTX ISA, chapter 9).

Covered are the instructions that trip counts, branches and addresses are made of: integer arithmetic,
logic, shifts, bit fields, comparisons, selections, conversions and plain floating-point arithmetic.
Anything else is an unknown that names its instruction, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from warpwatt.core.program import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Space,
    Symbol,
    Variable,
    Vector,
)
from warpwatt.program.expression import SPECIAL_REGISTERS, is_float, width

if TYPE_CHECKING:
    from warpwatt.program.algebra import Algebra
    from warpwatt.program.expression import Node

_TYPES = frozenset(["pred", "f16", "f32", "f64", *(f"{k}{bits}" for k in "bus" for bits in (8, 16, 32, 64))])
_TWO = frozenset({"add", "sub", "div", "rem", "min", "max", "and", "or", "xor", "shl", "shr"})
_ONE = frozenset({"neg", "abs", "not", "popc", "clz", "brev", "sqrt"})
_COMPARE = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"} | {
    name: name for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
_ROUNDINGS = ("rzi", "rni", "rmi", "rpi")
_INEXACT = frozenset({"approx", "sat", "cc", "ftz", "full"})
"""Modifiers whose results we do not reproduce bit by bit."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """An opcode taken apart: name, modifiers and types (``bNN`` read as ``uNN``), destination's first."""

    name: str
    modifiers: tuple[str, ...]
    types: tuple[str, ...]


@lru_cache(maxsize=4096)
def spelling(opcode: str) -> Spelling:
    """Take an opcode apart.

    >>> spelling("setp.lt.and.s32")
    Spelling(name='setp', modifiers=('lt', 'and'), types=('s32',))
    >>> spelling("cvt.rzi.s32.f32").types
    ('s32', 'f32')
    """
    name, *rest = opcode.split(".")
    types = tuple(r.replace("b", "u") if r[0] == "b" else r for r in rest if r in _TYPES)
    return Spelling(name, tuple(r for r in rest if r not in _TYPES), types)


def understood(opcode: str) -> bool:
    """Whether the value of an instruction may be known from its operands."""
    how = spelling(opcode)
    known = how.name in _HANDLERS or how.name in _ONE or how.name in _TWO or how.name == "setp"
    return known and not _INEXACT & set(how.modifiers)


def parameter_cells(instruction: Instruction) -> tuple[str, ...]:
    """Return the names of the ``.param`` cells an access touches, in order; none for computed addresses."""
    address = next((o for o in instruction.operands if isinstance(o, Address)), None)
    if address is None or not isinstance(address.base, Symbol) or address.index is not None:
        return ()
    kinds = spelling(instruction.opcode).types
    other = next((o for o in instruction.operands if not isinstance(o, Address)), None)
    count = len(other.elements) if isinstance(other, Vector) else 1
    size = int(kinds[0][1:]) // 8 if kinds and kinds[0] != "pred" else 4
    return tuple(f"[{address.base.name}+{address.offset + i * size}]" for i in range(count))


class Semantics:
    """Turns instructions into nodes.

    Parameters
    ----------
    algebra
        Makes the nodes.
    register
        Value of a register at the present point, or None where it was never set.
    variables
        Variables of the program by name: their names stand for addresses.
    parameters
        Names of the kernel's parameters.
    """

    def __init__(
        self,
        algebra: Algebra,
        register: Callable[[str], Node | None],
        variables: Mapping[str, Variable],
        parameters: frozenset[str],
    ) -> None:
        self.algebra = algebra
        self.register = register
        self.variables = variables
        self.parameters = parameters

    def results(self, instruction: Instruction) -> list[tuple[str, Node]]:
        """Return the registers an instruction writes with their values."""
        how = spelling(instruction.opcode)
        if not instruction.writes:
            return []
        if how.name == "setp":
            return self._setp(instruction, how)
        if instruction.memory is not None and instruction.memory.space is Space.PARAM:
            return self._parameter(instruction, how)
        if how.name == "mov" and any(isinstance(o, Vector) for o in instruction.operands):
            return self._pack(instruction, how)
        value = self._value(instruction, how) if len(instruction.writes) == 1 else None
        if value is not None:
            return [(instruction.writes[0], value)]
        return [(name, self._opaque(instruction, how)) for name in instruction.writes]

    def operand(self, operand: Operand, kind: str, instruction: Instruction | None = None) -> Node:
        """Return the value of an operand read as type ``kind``."""
        algebra = self.algebra
        if isinstance(operand, Immediate):
            return algebra.const(operand.value, kind)
        if isinstance(operand, Register):
            value = self._register(operand.name, kind, instruction)
            return algebra.negate(value) if operand.negated else value
        if isinstance(operand, Symbol):
            return self._symbol(operand.name, kind, instruction)
        if isinstance(operand, Address):
            return self.address(operand, instruction)
        return algebra.unknown(kind, instruction, "a vector operand")

    def address(self, address: Address, instruction: Instruction | None = None) -> Node:
        """Return the address of a memory operand in bytes, as ``u64``."""
        algebra = self.algebra
        base = algebra.const(0, "u64")
        if isinstance(address.base, Symbol):
            base = self._symbol(address.base.name, "u64", instruction)
        elif isinstance(address.base, Register):
            base = self._register(address.base.name, "u64", instruction)
        if width(base.type) < 64:
            base = algebra.convert(base, f"u{width(base.type)}", "u64")
        if address.index is not None:
            index = self._register(address.index.name, "u32", instruction)
            index = algebra.convert(index, f"u{width(index.type)}", "u64")
            base = algebra.apply("add", "u64", base, self._scaled(index, address.scale))
        return algebra.apply("add", "u64", base, algebra.const(address.offset, "u64"))

    def _scaled(self, index: Node, scale: int) -> Node:
        return self.algebra.apply("mul", "u64", index, self.algebra.const(scale, "u64"))

    def _register(self, name: str, kind: str, instruction: Instruction | None) -> Node:
        value = self.register(name)
        if value is not None:
            return value
        if name in SPECIAL_REGISTERS:
            if name == "WARP_SZ":
                return self.algebra.const(32, "u32")
            return self.algebra.leaf("special", "u32", name)
        reason = f"special register {name}" if name.startswith("%") else f"{name} is read before it is set"
        return self.algebra.unknown(kind, instruction, reason)

    def _symbol(self, name: str, kind: str, instruction: Instruction | None) -> Node:
        if name == "WARP_SZ":
            return self.algebra.const(32, kind)
        if name in self.variables or name in self.parameters:
            return self.algebra.leaf("symbol", kind if width(kind) >= 32 else "u64", name)
        return self.algebra.unknown(kind, instruction, f"address of {name}")

    def _opaque(self, instruction: Instruction, how: Spelling) -> Node:
        kind = how.types[0] if how.types else "u32"
        memory = instruction.memory
        reason = (
            f"loaded from {memory.space} memory" if memory is not None else f"result of {instruction.opcode}"
        )
        return self.algebra.unknown(kind, instruction, reason)

    def _value(self, instruction: Instruction, how: Spelling) -> Node | None:
        """Return what a one-result instruction computes, or None if that is not known."""
        if instruction.memory is not None:
            return self._load(instruction, how)
        if not how.types or _INEXACT & set(how.modifiers):
            return None
        handler = _HANDLERS.get(how.name)
        if handler is not None:
            return handler(self, instruction, how)
        return self._plain(instruction, how)

    def _plain(self, instruction: Instruction, how: Spelling) -> Node | None:
        """Return operations of one or two operands of the same type."""
        kind, algebra = how.types[0], self.algebra
        inputs = instruction.operands[1:]
        if how.name in _ONE and len(inputs) == 1 and kind != "f16":
            a = self.operand(inputs[0], kind, instruction)
            if how.name in ("popc", "clz"):
                return algebra.apply(how.name, "u32", a, of=kind)
            return (
                algebra.negate(a) if (how.name, kind) == ("not", "pred") else algebra.apply(how.name, kind, a)
            )
        if how.name in _TWO and len(inputs) == 2:
            a = self.operand(inputs[0], kind, instruction)
            b = self.operand(inputs[1], "u32" if how.name in ("shl", "shr") else kind, instruction)
            return algebra.apply(how.name, kind, a, b)
        return None

    def _parameter(self, instruction: Instruction, how: Spelling) -> list[tuple[str, Node]]:
        """Return what accesses to ``.param`` space write: registers, or the cells calls pass values in."""
        cells = parameter_cells(instruction)
        other = next((o for o in instruction.operands if not isinstance(o, Address)), None)
        parts = other.elements if isinstance(other, Vector) else (other,)
        kind = how.types[0] if how.types else "u32"
        if how.name == "st":
            values = [self.operand(p, kind, instruction) for p in parts if p is not None]
            return list(zip(cells, values, strict=False))
        results: list[tuple[str, Node]] = []
        for cell, part in zip(cells, parts, strict=False):
            name = cell[1:-1]
            value = self.register(cell)
            if value is None and name.rpartition("+")[0] in self.parameters:
                value = self.algebra.leaf("param", kind, name)
            if isinstance(part, Register):
                results.append((part.name, value or self._opaque(instruction, how)))
        known = {name for name, _ in results}
        return results + [(w, self._opaque(instruction, how)) for w in instruction.writes if w not in known]

    def _load(self, instruction: Instruction, how: Spelling) -> Node | None:
        """Return a scalar in constant memory; loads of anything else are data."""
        memory = instruction.memory
        assert memory is not None
        if how.name != "ld" or memory.space is not Space.CONST or not how.types:
            return None
        address = instruction.operands[1]
        if not isinstance(address, Address) or not isinstance(address.base, Symbol) or address.index:
            return None
        return self.algebra.leaf("constant", how.types[0], f"{address.base.name}+{address.offset}")

    # Instructions with a shape of their own -----------------------------------------------------------

    def _setp(self, instruction: Instruction, how: Spelling) -> list[tuple[str, Node]]:
        target, *inputs = instruction.operands
        result = self._comparison(inputs, how, instruction)
        names = target.elements if isinstance(target, Vector) else (target,)
        both = (result, self.algebra.negate(result))
        return [
            (name.name, value) for name, value in zip(names, both, strict=False) if isinstance(name, Register)
        ]

    def _comparison(self, inputs: list[Operand], how: Spelling, instruction: Instruction) -> Node:
        algebra = self.algebra
        compare = _COMPARE.get(how.modifiers[0]) if how.modifiers else None
        if compare is None or not how.types or how.types[0] == "f16" or len(inputs) < 2:
            return algebra.unknown("pred", instruction, f"result of {instruction.opcode}")
        kind = how.types[0]
        a, b = (self.operand(o, kind, instruction) for o in inputs[:2])
        result = algebra.apply(compare, "pred", a, b, of=kind)
        combine = next((m for m in how.modifiers[1:] if m in ("and", "or", "xor")), None)
        if combine is not None and len(inputs) == 3:
            result = algebra.apply(combine, "pred", result, self.operand(inputs[2], "pred", instruction))
        return result

    def _pack(self, instruction: Instruction, how: Spelling) -> list[tuple[str, Node]]:
        """``mov`` between a word and the vector of its pieces, lowest first."""
        algebra = self.algebra
        target, source = instruction.operands[:2]
        kind = how.types[0] if how.types else "u64"
        pieces = target if isinstance(target, Vector) else source
        assert isinstance(pieces, Vector)
        bits = width(kind) // len(pieces.elements)
        if isinstance(target, Vector):
            whole = self.operand(source, kind, instruction)
            parts = [
                algebra.apply("shr", kind, whole, algebra.const(bits * i, "u32"))
                for i in range(len(target.elements))
            ]
            return [
                (name.name, algebra.convert(part, kind, f"u{bits}"))
                for name, part in zip(target.elements, parts, strict=True)
                if isinstance(name, Register)
            ]
        whole = algebra.const(0, kind)
        for i, piece in enumerate(pieces.elements):
            part = algebra.convert(self.operand(piece, f"u{bits}", instruction), f"u{bits}", kind)
            raised = algebra.apply("shl", kind, part, algebra.const(bits * i, "u32"))
            whole = algebra.apply("or", kind, raised, whole)
        return [(instruction.writes[0], whole)]

    def _move(self, instruction: Instruction, how: Spelling) -> Node | None:
        return self.operand(instruction.operands[1], how.types[0], instruction)

    def _multiply(self, instruction: Instruction, how: Spelling) -> Node | None:
        kind = how.types[0]
        a, b = (self.operand(o, kind, instruction) for o in instruction.operands[1:3])
        algebra = self.algebra
        result_type = kind
        if is_float(kind) or "lo" in how.modifiers:
            product = algebra.apply("mul", kind, a, b)
        elif "hi" in how.modifiers:
            product = algebra.apply("mulhi", kind, a, b)
        elif "wide" in how.modifiers:
            result_type = f"{kind[0]}{2 * width(kind)}"
            wide = (algebra.convert(x, kind, result_type) for x in (a, b))
            product = algebra.apply("mul", result_type, *wide)
        else:
            return None
        if how.name == "mul":
            return product
        return algebra.apply("add", result_type, product, self.operand(instruction.operands[3], result_type))

    def _convert(self, instruction: Instruction, how: Spelling) -> Node | None:
        if len(how.types) != 2:
            return None
        kind, source = how.types
        rounding = next((m for m in how.modifiers if m in _ROUNDINGS), "")
        return self.algebra.convert(
            self.operand(instruction.operands[1], source, instruction), source, kind, rounding
        )

    def _select(self, instruction: Instruction, how: Spelling) -> Node | None:
        yes, no = (self.operand(o, how.types[0], instruction) for o in instruction.operands[1:3])
        return self.algebra.select(self.operand(instruction.operands[3], "pred", instruction), yes, no)

    def _bit_field(self, instruction: Instruction, how: Spelling) -> Node | None:
        kind = how.types[0]
        words = 1 if how.name == "bfe" else 2
        inputs = instruction.operands[1:]
        args = [self.operand(o, kind if i < words else "u32", instruction) for i, o in enumerate(inputs)]
        return self.algebra.apply(how.name, kind, *args)

    def _lookup(self, instruction: Instruction, how: Spelling) -> Node | None:
        *inputs, table = instruction.operands[1:]
        if len(inputs) != 3 or not isinstance(table, Immediate) or how.modifiers:
            return None
        args = [self.operand(o, "u32", instruction) for o in inputs]
        return self.algebra.apply("lop3", "u32", *args, payload=int(table.value))

    def _funnel(self, instruction: Instruction, how: Spelling) -> Node | None:
        args = [self.operand(o, "u32", instruction) for o in instruction.operands[1:]]
        return self.algebra.apply(".".join(("shf", *how.modifiers)), "u32", *args)

    def _identity(self, instruction: Instruction, how: Spelling) -> Node | None:
        """Address spaces share one numbering here, so ``cvta`` changes nothing."""
        return self.operand(instruction.operands[1], how.types[0], instruction)


_HANDLERS: dict[str, Callable[[Semantics, Instruction, Spelling], Node | None]] = {
    "mov": Semantics._move,
    "cvta": Semantics._identity,
    "mul": Semantics._multiply,
    "mad": Semantics._multiply,
    "cvt": Semantics._convert,
    "selp": Semantics._select,
    "bfe": Semantics._bit_field,
    "bfi": Semantics._bit_field,
    "lop3": Semantics._lookup,
    "shf": Semantics._funnel,
}
