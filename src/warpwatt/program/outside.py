"""Which blocks of a grid touch memory beyond their buffers, as far as analysis knows.

Addresses that are sums of indices go farthest in the blocks at the ends of the grid, which are emulated
anyway. Others (selections, products of indices, remainders) are evaluated for all the blocks looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.core.program import Space
from warpwatt.program.accesses import region_of
from warpwatt.program.arithmetic import as_type
from warpwatt.program.expression import BLOCK, UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.core.program import Instruction
    from warpwatt.program.algebra import Algebra
    from warpwatt.program.arithmetic import Array
    from warpwatt.program.evaluation import Environment, Evaluator
    from warpwatt.program.expression import Node
    from warpwatt.program.symbolic import Symbols


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """A basic block that some lanes pass: which, and in which iterations of the loops around."""

    block: int
    presence: Array
    environment: Environment


def blocks_outside(evaluator: Evaluator, met: Sequence[Met], count: int) -> NDArray[np.bool_]:
    """Return which of ``count`` blocks seem to make an access outside its buffer."""
    outside = np.zeros(count, bool)
    for one in met:
        for instruction in evaluator.symbols.flow.instructions(one.block):
            if _is_open(evaluator.symbols, instruction):
                beyond = _beyond(evaluator, instruction, one)
                outside |= beyond.any(axis=(*range(beyond.ndim - 3), -2, -1))
    return outside


def has_open_accesses(symbols: Symbols) -> bool:
    """Whether some access of a program depends on the block by more than a sum of indices."""
    return any(_is_open(symbols, instruction) for instruction in symbols.program.instructions)


def _is_open(symbols: Symbols, instruction: Instruction) -> bool:
    memory, address = instruction.memory, symbols.addresses.get(instruction.index)
    return (
        memory is not None
        and memory.space in (Space.GLOBAL, Space.GENERIC)
        and address is not None
        and not symbols.algebra.traits_of(address) & UNKNOWN
        and not _is_sum(symbols.algebra, address)
    )


def _is_sum(algebra: Algebra, address: Node) -> bool:
    """Whether what an address takes from the block's index are terms with factors that nothing changes."""
    waiting, seen = [address], {address.number}
    while waiting:
        node = waiting.pop()
        if not algebra.traits_of(node) & BLOCK or node.op == "special":
            continue
        terms = _terms(algebra, node)
        if terms is None:
            return False
        waiting += [term for term in terms if term.number not in seen]
        seen.update(term.number for term in terms)
    return True


def _terms(algebra: Algebra, node: Node) -> tuple[Node, ...] | None:
    """Return what a node is a sum of, factors apart; None if it is none."""
    if node.op in ("add", "sub", "cvt"):
        return node.args
    if node.op in ("mul", "shl"):
        changing = tuple(a for a in node.args if algebra.traits_of(a))
        return changing if len(changing) == 1 and (node.op == "mul" or changing[0] is node.args[0]) else None
    if node.op == "phi":
        recurrence = algebra.recurrences[node.number]
        return None if recurrence.step is None else (recurrence.first, recurrence.step)
    return None


def _beyond(evaluator: Evaluator, instruction: Instruction, met: Met) -> NDArray[np.bool_]:
    """Return which lanes look outside the buffer, with the axes of the evaluator."""
    nothing = np.zeros((1, 1, 1), bool)
    address = evaluator.symbols.addresses[instruction.index]
    region = region_of(evaluator, address)
    value = evaluator.value(address, met.environment)
    guard = evaluator.symbols.guards.get(instruction.index)
    on = np.ones((1, 1, 1), bool) if guard is None else evaluator.value(guard, met.environment)
    if region is None or region.size is None or value is None or on is None:
        return nothing
    assert instruction.memory is not None
    offset = as_type(value, "u64").astype(np.int64) - region.base
    size = max(1, instruction.memory.bytes)
    return on & (met.presence > 0) & ((offset < 0) | (offset + size > region.size))
