"""The grid's tail: the same work in blocks that come out even on the SMs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.advice import Change
from warpwatt.core.launch import Dim3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.case import Case

NOTABLE = 1.02
"""Work of the fullest SM over the average one from which on it is looked at."""


def tail(case: Case) -> Iterator[Change]:
    """Yield the case whose work is done by whole waves of blocks; each block does a little more.

    A wave is what all SMs hold at once. A grid of less than a wave is cut to whole rounds of one block per
    SM.
    """
    blocks, sms = case.launch.grid.count, case.gpu.sm_count
    wave = max(1, case.workload.occupancy.blocks_per_sm) * sms
    unit = wave if blocks >= wave else sms
    even = blocks // unit * unit
    if not even or blocks < NOTABLE * even:
        return
    work = replace(case.workload, waves=even / wave)
    changed = replace(case, launch=replace(case.launch, grid=Dim3(even)), workload=work)
    text = f"spreading the work evenly: {even} instead of {blocks} blocks"
    fix = f"a grid-stride loop with a multiple of {unit} blocks, or smaller blocks"
    yield Change("tail", text, changed, None, fix)
