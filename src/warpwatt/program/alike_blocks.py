"""Blocks of a grid that take the same way: one of each kind is walked for all.

A walk asks guards alone where lanes go. Where all that depend on the block's index depend on no loop and no
data, blocks in which they say the same go the same way: of thousands of blocks the first, the last and one
between are walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.program.expression import BLOCK, UNKNOWN, loop_trait

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.program.evaluation import Evaluator

MOST_KINDS = 64
"""Kinds of blocks that are told apart; where there are more, all blocks are walked."""


@dataclass(frozen=True, slots=True, eq=False)
class AlikeBlocks:
    """Sampled blocks in kinds.

    Attributes
    ----------
    kind
        Of each sampled block: its number among the kinds.
    walked
        Of each kind: the first sampled block.
    """

    kind: NDArray[np.int64]
    walked: NDArray[np.int64]


def alike_blocks(evaluator: Evaluator) -> AlikeBlocks | None:
    """Return the kinds of an evaluator's blocks; None where guards do not tell them, or tell too many."""
    traits, blocks = evaluator.algebra.traits_of, len(evaluator.sample.block_weights)
    guards = {guard.number: guard for guard in evaluator.symbols.guards.values()}
    told = [guard for guard in guards.values() if traits(guard) & BLOCK]
    if any(traits(guard) & UNKNOWN or traits(guard) >= loop_trait(0) for guard in told):
        return None
    said = []
    for guard in told:
        value = evaluator.value(guard, {})
        if value is None or len(value) not in (1, blocks):
            return None
        if len(value) > 1:
            said.append(value.reshape(blocks, -1))
    rows = np.packbits(np.concatenate(said, axis=1), axis=1) if said else np.zeros((blocks, 1), np.uint8)
    return _kinds(rows)


def _kinds(rows: NDArray[np.uint8]) -> AlikeBlocks | None:
    """Return which rows are equal, the kinds in the order of their first rows.

    >>> found = _kinds(np.array([[1, 2], [0, 255], [1, 2]], np.uint8))
    >>> found.kind.tolist(), found.walked.tolist()
    ([0, 1, 0], [0, 1])
    """
    kind, first = np.full(len(rows), -1), list[int]()
    left = np.arange(len(rows))
    while len(left):
        if len(first) == MOST_KINDS:
            return None
        same = (rows[left] == rows[left[0]]).all(axis=1)
        kind[left[same]] = len(first)
        first.append(int(left[0]))
        left = left[~same]
    return AlikeBlocks(kind, np.array(first))
