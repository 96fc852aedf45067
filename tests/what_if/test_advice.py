"""What is advised, and whether following it brings what it promised."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import warpwatt
from tests.what_if.cases import explained, predicted
from warpwatt.compose import advised
from warpwatt.core.advice import TOGETHER, Change, WhatIf
from warpwatt.core.case import Case, Timing
from warpwatt.core.errors import UnsupportedGpuError
from warpwatt.models.pipeline import Pipeline
from warpwatt.what_if import changes, what_ifs, whatif
from warpwatt.what_if.whatif import KINDS, WORTH, together

EXAMPLE = Path(warpwatt.__file__).parent / "examples" / "matmul.cu"
PAIRS = (
    ("transpose", "coalescing", 12),
    ("banks", "bank conflicts", 16),
    ("branches", "divergence", 19),
    ("accumulator", "chains", 10),
    ("seats", "occupancy", None),
    ("precision", "precision", None),
)


@pytest.mark.parametrize(("name", "kind", "line"), PAIRS)
def test_the_first_advice_is_the_kernels_trouble_and_keeps_its_promise(
    name: str, kind: str, line: int | None
) -> None:
    """The edited kernel is predicted to save what was advised, within six points."""
    before, after = explained(name), predicted(name, "after")
    assert before.advice
    first = before.advice[0]
    assert (first.kind, first.line.line if first.line else None) == (kind, line)
    assert first.fix
    assert first.share == pytest.approx(1 - after.time.value / before.time.value, abs=0.06)
    assert first.time.value == pytest.approx(before.time.value - first.saved.value)
    assert first.saved.low < first.saved.value < first.saved.high


def test_coalesced_accesses_open_no_pages_of_dram_for_single_sectors() -> None:
    """GDDR6X is slowed by scattered sectors; neither the edited kernel nor what the advice promises is."""
    before, after = explained("transpose", "rtx3090"), predicted("transpose", "after", "rtx3090")
    assert before.advice
    assert before.advice[0].share == pytest.approx(1 - after.time.value / before.time.value, abs=0.06)


def test_advice_only_where_asked_and_nothing_to_say_without_trouble() -> None:
    """A padded transposition runs at the bandwidth."""
    assert predicted("transpose", "after").advice is None
    assert [a for a in explained("transpose").advice or () if a.share < WORTH] == []
    assert not any(w.change.kind in ("coalescing", "bank conflicts") for w in _after("transpose"))


def _nothing_fails(remark: str) -> None:
    pytest.fail(remark)


def _after(name: str) -> tuple:
    case, model = predicted(name, "after").case, Pipeline()
    return what_ifs(case, model, model.predict(case), _nothing_fails)


def test_ranked_by_time_and_all_together_is_not_the_sum() -> None:
    """What all changes save is simulated: more than the best alone, and not what they save one by one."""
    advice = explained("tiling", "h200").advice
    assert advice is not None
    single = [a for a in advice if a.kind != TOGETHER]
    assert [a.share for a in single] == sorted((a.share for a in single), reverse=True)
    whole = advice[-1]
    assert whole.kind == TOGETHER
    assert single[0].share < whole.share
    assert whole.share != pytest.approx(sum(a.share for a in single), rel=1e-3)


def test_occupancy_names_what_has_to_give_way() -> None:
    """48 KiB per block leave room for two blocks on an RTX 3090."""
    (first, *_) = explained("seats", "rtx3090").advice or ()
    assert first.text == "keeping 16 instead of 8 warps resident per SM"
    assert first.fix == "24 KiB instead of 48 KiB of shared memory per block"


def test_single_precision_saves_energy_too() -> None:
    """The GeForce's few double-precision units keep the board waiting."""
    (first, *_) = explained("precision", "rtx3090").advice or ()
    assert 0.5 < first.energy_share < 1.0
    assert first.energy_saved.value > 0


def test_what_a_large_change_leaves_is_less_sure() -> None:
    """Without its spills the kernel takes a seventieth: what little is left decides by how much."""
    wide, narrow = (explained(name, "rtx3090").advice or () for name in ("spills", "accumulator"))
    assert wide[0].share > 0.9 > 0.5 > narrow[0].share
    assert wide[0].time.high / wide[0].time.low > 1.5 * narrow[0].time.high / narrow[0].time.low


def test_what_may_cost_time_is_not_advised() -> None:
    """The whole interval of what is saved lies above nothing; that of some change that was tried does not."""
    found = explained("tiling", "h200")
    assert all(one.saved.low > 0 for one in found.advice or ())
    tried = [Pipeline().predict(change.case).time.value for change in changes(found.case)]
    worth = [time for time in tried if time <= (1 - WORTH) * found.time.value]
    assert len(worth) > len([one for one in found.advice or () if one.kind != TOGETHER])


@pytest.mark.parametrize("name", ["transpose", "banks", "branches", "tiling"])
def test_no_two_kinds_share_a_name_and_all_together_is_one_after_the_other(name: str) -> None:
    """Kinds that change nothing that helps are passed over, and the first is not made again."""
    case = explained(name, "rtx3090").case
    made = [(kind, tuple(kind(case))) for kind in KINDS]
    names = [change.kind for _, own in made for change in {c.kind: c for c in own}.values()]
    assert len(set(names)) == len(names)
    helpful = [change for _, own in made for change in own if not change.part]
    whole = together(case, helpful, made)
    for kind in KINDS:
        one = next((c for c in kind(case) if not c.part and c.kind in names), None)
        case = case if one is None else one.case
    assert whole is None or Pipeline().predict(whole.case).time == Pipeline().predict(case).time


@pytest.mark.parametrize("gpu", ["h200", "rtx3090"])
def test_tiling_is_advised_where_a_block_shares_and_has_no_tile_yet(gpu: str) -> None:
    """The tiled kernel keeps what is promised: filling the tile costs loads, stores and their reads."""
    naive, tiled = (
        warpwatt.predict(EXAMPLE, gpu=gpu, kernel=name, advice=True)
        for name in ("matmul_naive", "matmul_tiled")
    )
    (promised,) = (one for one in naive.advice or () if one.kind == "tiling")
    # each of the three times is drawn through loops simulated in part: a per cent off whole simulations
    assert promised.share == pytest.approx(1 - tiled.time.value / naive.time.value, abs=0.04)
    assert "A and B" in promised.text or "B and A" in promised.text
    assert not any(one.kind == "tiling" for one in tiled.advice or ())


@pytest.mark.skipif(os.cpu_count() == 1, reason="one processor does one thing after the other")
def test_changes_are_tried_at_the_same_time_and_said_in_their_order() -> None:
    """Two predictions wait for each other: one after the other, the first would wait in vain."""

    class Meeting(Pipeline):
        met = Barrier(2)
        asked = 0

        def predict(self, case: Case) -> Timing:
            self.asked += 1
            if self.asked <= 2:
                self.met.wait(timeout=60)
            return super().predict(case)

    found = explained("tiling", "rtx3090")
    tried = what_ifs(found.case, Meeting(), found.timing, _nothing_fails)
    assert [one.change.text for one in tried] == [one.text for one in found.advice or ()]


def test_a_change_that_cannot_be_predicted_is_left_out_with_a_remark(monkeypatch) -> None:
    """So is a kind whose changes cannot be made; the others are told as ever."""
    found = explained("transpose")
    wrong = (found.advice or ())[0].text

    def fails_once(change: Change, *rest: Any) -> WhatIf:
        if change.text == wrong:
            raise OverflowError("too large")
        return tried(change, *rest)

    def no_change(_: Case) -> tuple[Change, ...]:
        raise UnsupportedGpuError("not for this board")

    tried = whatif._tried
    monkeypatch.setattr(whatif, "_tried", fails_once)
    monkeypatch.setattr(whatif, "KINDS", (*whatif.KINDS, no_change))
    left = advised(found)
    assert wrong not in [one.text for one in left.advice or ()]
    assert left.warnings[-2:] == (
        "whether a change of no change would help is not known: not for this board",
        f"whether {wrong} would help is not known: internal error: OverflowError('too large')",
    )
