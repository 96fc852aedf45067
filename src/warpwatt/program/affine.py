"""Values that grow by the same amount in every iteration of a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.program.expression import Node, is_const, is_float, loop_trait, width

if TYPE_CHECKING:
    from warpwatt.program.algebra import Algebra

_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Affine:
    """``base + k * step`` in iteration ``k``, in the wrapping arithmetic of ``base``'s width.

    ``widened`` lists ``(base, step, type)`` of narrower sums inside: the form only holds while those do not
    leave the range of their type.
    """

    base: Node
    step: Node
    widened: tuple[tuple[Node, Node, str], ...] = ()


def affine(algebra: Algebra, node: Node, loop: int, depth: int = 0) -> Affine | None:
    """Return the affine form of an integer value in a loop, or None if it has none that we find."""
    if is_float(node.type) or node.type == "pred" or depth > _DEPTH:
        return None
    if not algebra.traits_of(node) & loop_trait(loop):
        return Affine(node, algebra.const(0, f"s{width(node.type)}"))
    if node.op == "phi":
        return _recurring(algebra, node, loop)
    if node.op == "cvt":
        return _converted(algebra, node, loop, depth)
    parts = [affine(algebra, a, loop, depth + 1) for a in node.args]
    known = [p for p in parts if p is not None]
    summed = known if node.op != "shl" else known[:1]
    if len(known) < len(parts) or any(width(p.base.type) != width(node.type) for p in summed):
        return None
    return _combined(algebra, node, known)


def _recurring(algebra: Algebra, phi: Node, loop: int) -> Affine | None:
    recurrence = algebra.recurrences[phi.number]
    if recurrence.loop != loop or recurrence.step is None:
        return None
    return Affine(recurrence.first, recurrence.step)


def _combined(algebra: Algebra, node: Node, parts: list[Affine]) -> Affine | None:
    kind = node.type
    widened = tuple(w for p in parts for w in p.widened)
    if node.op in ("add", "sub", "neg"):
        base = algebra.apply(node.op, kind, *[p.base for p in parts])
        return Affine(base, algebra.apply(node.op, kind, *[p.step for p in parts]), widened)
    if node.op == "mul":
        a, b = parts if is_const(parts[1].step, 0) else parts[::-1]
        if not is_const(b.step, 0):
            return None
        scaled = [algebra.apply("mul", kind, x, b.base) for x in (a.base, a.step)]
        return Affine(scaled[0], scaled[1], widened)
    if node.op == "shl" and is_const(parts[1].step, 0):
        shifted = [algebra.apply("shl", kind, x, parts[1].base) for x in (parts[0].base, parts[0].step)]
        return Affine(shifted[0], shifted[1], widened)
    return None


def _converted(algebra: Algebra, node: Node, loop: int, depth: int) -> Affine | None:
    """Conversions keep sums: narrowing always, widening as long as the narrow sum does not wrap."""
    source = node.operand_type
    inner = affine(algebra, node.args[0], loop, depth + 1)
    if inner is None or is_float(source) or width(inner.base.type) != width(source):
        return None
    base = algebra.convert(inner.base, source, node.type)
    if width(source) >= width(node.type):
        return Affine(base, algebra.convert(inner.step, source, node.type), inner.widened)
    step = algebra.convert(inner.step, f"s{width(source)}", node.type)
    return Affine(base, step, (*inner.widened, (inner.base, inner.step, source)))
