"""The SM that ends last, with a simulation whose answer has a closed form: every block takes its work."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline import last_sm
from warpwatt.models.pipeline.chip import ChipLaunch, ChipSimulation

SMS = 4


def launched(
    work: dict[int, int], blocks: int, resident: int, weights: tuple[float, ...] = (), sms: int = SMS
) -> ChipLaunch:
    """Return a launch of blocks of one warp, of which some were traced: their numbers and instructions."""
    steps = np.array([[0, instructions, 0] for instructions in work.values()])
    none, nothing = np.zeros(0, np.int64), np.zeros(0)
    streams = WarpStreams(
        1, tuple(work), np.arange(len(work) + 1), steps, none, nothing, nothing, nothing, nothing,
        weights=weights,
    )  # fmt: skip
    machine: Any = SimpleNamespace(sm_count=sms)
    no: Any = None
    return ChipLaunch(no, no, streams, machine, blocks, resident)


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the blocks of an SM take the mean of their work, one after the other."""

    def simulate(of: ChipLaunch) -> ChipSimulation:
        mean = np.average(of.streams.work_of_blocks, weights=of.streams.weights or None)
        nothing: Any = None
        return ChipSimulation(float(mean) * math.ceil(of.blocks / of.machine.sm_count), nothing, 0.0)

    monkeypatch.setattr(last_sm, "simulate_launch", simulate)


@pytest.mark.parametrize("order", [range(8), (5, 2, 7, 0, 6, 3, 1, 4)])
def test_one_wave_lasts_as_long_as_the_sm_with_the_most_work(order: Any) -> None:
    """Of two blocks on each SM those of the third have most, though the longest is on the first."""
    work = dict(enumerate((50, 10, 40, 10, 10, 20, 40, 10)))
    found = last_sm.simulate_until_last(launched({block: work[block] for block in order}, 8, 2))
    assert found.cycles == 40 + 40


def test_where_few_blocks_were_traced_the_fullest_sm_gets_more_than_the_mean() -> None:
    """Half of the blocks are long: of eight on each of 64 SMs never just four of all are."""
    found = last_sm.simulate_until_last(launched({3: 100, 11: 1}, 8 * 64, 8, (256.0, 256.0), sms=64))
    assert 6 * 100 + 2 <= found.cycles <= 8 * 100


def test_alike_blocks_are_simulated_as_they_are() -> None:
    assert last_sm.simulate_until_last(launched({0: 100, 1: 105}, 8, 2)).cycles == 2 * 102.5


def test_several_waves_last_no_shorter_than_the_longest_block() -> None:
    work = dict.fromkeys(range(16), 1) | {9: 500}
    assert last_sm.simulate_until_last(launched(work, 16, 1)).cycles == 500
