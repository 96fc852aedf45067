"""Addresses as sums ``c0 + c1 * threadIdx.x + c2 * blockIdx.x + c3 * k + ...`` and the bytes they cover."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warpwatt.program.expression import BLOCK, THREAD, UNKNOWN, is_float

if TYPE_CHECKING:
    from warpwatt.program.evaluation import Evaluator
    from warpwatt.program.expression import Node

Coefficients = dict[str, int]
"""Index (special register, or ``loop 3``) to its factor; "" to the constant."""
_DEPTH = 64


def linear(evaluator: Evaluator, node: Node, depth: int = 0) -> Coefficients | None:
    """Return the coefficients of an integer value, or None if it is not a sum of indices.

    Conversions are taken to lose nothing, as they do for addresses inside a buffer.
    """
    traits = evaluator.algebra.traits_of(node)
    if is_float(node.type) or traits & UNKNOWN or depth > _DEPTH:
        return None
    if not traits & (THREAD | BLOCK) and traits < 8:
        value = evaluator.value(node, {})
        return None if value is None else {"": _signed(value.flat[0].item())}
    if node.op == "phi":
        return _recurring(evaluator, node, depth)
    parts = [linear(evaluator, a, depth + 1) for a in node.args]
    known = [p for p in parts if p is not None]
    if not node.args or len(known) < len(parts):
        whole = node.op == "special" and node.payload not in ("%laneid", "%warpid")
        return {str(node.payload): 1} if whole else None
    return _combined(node.op, *known) if len(known) < 3 else None


def _recurring(evaluator: Evaluator, node: Node, depth: int) -> Coefficients | None:
    recurrence = evaluator.algebra.recurrences[node.number]
    if recurrence.step is None:
        return None
    first = linear(evaluator, recurrence.first, depth + 1)
    step = linear(evaluator, recurrence.step, depth + 1)
    if first is None or step is None or set(step) - {""}:
        return None
    return _combined("add", first, {f"loop {recurrence.loop}": step.get("", 0)})


def _combined(op: str, left: Coefficients, right: Coefficients | None = None) -> Coefficients | None:
    if right is None:
        return left if op == "cvt" else None
    if op not in ("add", "sub", "mul", "shl"):
        return None
    if op in ("mul", "shl"):
        if op == "mul" and set(right) - {""}:
            left, right = right, left
        if set(right) - {""}:
            return None
        factor = right.get("", 0) if op == "mul" else 1 << min(right.get("", 0), 63)
        return {name: c * factor for name, c in left.items()}
    sign = -1 if op == "sub" else 1
    return {name: left.get(name, 0) + sign * right.get(name, 0) for name in {**left, **right}}


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def footprint(size: int, terms: Iterable[tuple[int, float]], granule: int = 1) -> float:
    """Return the distinct bytes of ``size``-byte accesses at all sums of ``factor * i``, ``0 <= i < extent``.

    Exact where larger factors do not reach into the range of the smaller ones or continue it; otherwise
    at most the whole range. Separate pieces count as whole granules, taken to start at one.

    >>> footprint(4, [(4, 256), (1024, 10)])  # contiguous
    10240
    >>> footprint(4, [(128, 32), (4, 8)])  # 32 pieces of 32 bytes
    1024
    >>> footprint(4, [(4, 100), (4, 50)])  # a sliding window
    596
    >>> footprint(4, [(128, 10)], granule=32)  # ten lonely elements
    320
    """
    covered: float = size
    reach: float = size
    for factor, extent in sorted((abs(f), e) for f, e in terms if f and e > 1):
        contiguous = factor <= reach and covered == reach
        if not contiguous:
            covered = _rounded(covered, granule)
            reach = max(reach, covered)
        grown = factor * (extent - 1) + reach
        covered = grown if contiguous else min(covered * extent, grown)
        reach = grown
    return _rounded(covered, granule)


def _rounded(size: float, granule: int) -> float:
    return -(-size // granule) * granule if granule > 1 else size
