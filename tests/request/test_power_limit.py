"""Another power limit than the data sheet's: it moves the clock that is sustained, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import warpwatt
from warpwatt.core.errors import InputError
from warpwatt.gpus import find
from warpwatt.request.choices import complete_gpus

EXAMPLE = Path(warpwatt.__file__).parent / "examples" / "matmul.cu"
OPTIONS: dict[str, Any] = {"gpu": "l4", "kernel": "matmul_tiled"}


def test_a_lower_limit_sustains_a_lower_clock():
    clocks, times = [], []
    for watts in (40, 55, 65, None):
        found = warpwatt.predict(EXAMPLE, **OPTIONS, power_limit=watts)
        assert found.power.value <= (watts or 72.0)
        clocks.append(found.case.clocks.sm)
        times.append(found.time.value)
    assert clocks == sorted(set(clocks))
    assert times == sorted(times, reverse=True)
    own = warpwatt.predict(EXAMPLE, **OPTIONS, power_limit=find("l4").power_limit)
    assert clocks[-1] == own.case.clocks.sm <= find("l4").boost_clock


def test_where_the_limit_does_not_bind_it_changes_nothing():
    slow: dict[str, Any] = {"clock": "600", **OPTIONS}
    one, other = (warpwatt.predict(EXAMPLE, **slow, power_limit=watts) for watts in (60, None))
    assert (one.time, one.power.value, one.energy.value) == (
        other.time, other.power.value, other.energy.value,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["10", "999", "nan", "much"])
def test_what_no_board_can_be_set_to_is_refused(text):
    with pytest.raises(InputError, match="power limit"):
        complete_gpus("l4", power_limit=text)
