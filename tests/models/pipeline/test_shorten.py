"""Loops cut short."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.program import Instruction, Level, Program
from warpwatt.core.streams import WarpStreams
from warpwatt.models.pipeline import chip
from warpwatt.models.pipeline.chip import ChipLaunch, ChipSimulation
from warpwatt.models.pipeline.shorten import Runs
from warpwatt.models.pipeline.shorten import runs as runs_of
from warpwatt.models.pipeline.streams import continue_alike

if TYPE_CHECKING:
    import pytest


def streams(codes: list[int]) -> WarpStreams:
    """Return one warp whose steps execute one instruction each."""
    steps = np.array([(code, code + 1, 0) for code in codes], np.int64)
    none = np.zeros(0)
    return WarpStreams(
        1, (0,), np.array([0, len(codes)]), steps, np.zeros(0, np.int64), none, none, none, none
    )


def runs(codes: list[int], *, longest: bool = True) -> Runs:
    """Find the runs of one warp."""
    return runs_of(streams(codes), longest=longest)


def test_a_loop_is_one_run() -> None:
    """A prologue, ten iterations of two blocks, an epilogue."""
    found = runs([0, *[1, 2] * 10, 3])
    assert found.rows.tolist() == [[1, 2, 10]]
    assert found.cut(4).steps[:, 0].tolist() == [0, *[1, 2] * 4, 3]
    assert found.instructions(4) == 10


def test_loops_keep_their_parts_of_the_work() -> None:
    """A hundred times one block, twenty times another: of each a tenth, at least two."""
    found = runs([*[1] * 100, 0, *[2] * 20, 0, *[3] * 4])
    assert found.cut(10).steps[:, 0].tolist() == [*[1] * 10, 0, *[2] * 2, 0, *[3] * 2]


def test_of_nested_loops_the_outer_or_the_inner_one() -> None:
    """Five times (a, six times b)."""
    codes = [1, *[2] * 6] * 5
    assert runs(codes).rows.tolist() == [[0, 7, 5]]
    three = runs(codes).cut(3).steps[:, 0].tolist()  # too few to be a run again
    assert [row[1:] for row in runs(three, longest=False).rows.tolist()] == [[1, 6]] * 3


def test_steps_without_instructions_are_no_visits_of_the_last_block() -> None:
    """Thirty steps that say -1 between visits of the largest code."""
    assert runs([5, *[-1] * 30] * 4).rows.tolist() == [[0, 31, 4]]


def test_the_limit_keeps_the_budget() -> None:
    """The largest limit whose work still fits, never below three."""
    found = runs([0, *[1, 2] * 100, 3])
    assert found.limit(50) == 24
    assert found.instructions(24) == 50
    assert found.limit(1) == 3
    assert found.limit(10**9) == 100


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(2, 6), st.booleans())
def test_work_is_counted_as_it_is_cut(codes: list[int], limit: int, longest: bool) -> None:
    """The instructions announced are those left; with no limit nothing is cut; runs do repeat."""
    found = runs(codes, longest=longest)
    assert found.instructions(limit) == len(found.cut(limit).steps)
    assert len(found.cut(10**6).steps) == len(codes)
    for first, period, times in found.rows:
        assert codes[first : first + period] * times == codes[first : first + period * times]


def test_warps_that_hardly_began_do_what_the_longest_did() -> None:
    """Of two warps traced in part, the second one's steps stand for both."""
    given_ = streams([0, 1, 2, 3, 4])
    uneven = replace(given_, warps_per_block=2, starts=np.array([0, 1, 5]))
    code = Program("k", Level.SASS, "sm_80", tuple(Instruction(n, "FADD") for n in range(5)))
    even = continue_alike(uneven, code)
    assert even.starts.tolist() == [0, 4, 8]
    assert even.steps[:, 0].tolist() == [1, 2, 3, 4] * 2


def test_blocks_that_were_traced_in_part_are_simulated_with_warps_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four instructions a warp one has executed one: what waits for it would wait for nothing."""
    no: Any = None
    seen: list[ChipLaunch] = []

    def remember(launched: ChipLaunch, *_: int) -> ChipSimulation:
        seen.append(launched)
        return ChipSimulation(1.0, no, 0.0)

    for way in ("_long_blocks", "_short_blocks"):
        monkeypatch.setattr(chip, way, remember)
    given_ = streams([0, 1, 2, 3, 4])
    uneven = replace(given_, warps_per_block=2, starts=np.array([0, 1, 5]))
    machine: Any = SimpleNamespace(sm_count=4)
    code = Program("k", Level.SASS, "sm_75", tuple(Instruction(n, "FADD") for n in range(5)))
    for instructions in (50.0, 5.0):  # of a block: ten times those traced, or all
        launched = ChipLaunch(code, no, uneven, machine, 8, 2, instructions=instructions)
        chip.simulate_launch(launched)
    assert [np.diff(one.streams.starts).tolist() for one in seen] == [[4, 4], [1, 4]]
