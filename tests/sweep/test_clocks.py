"""Ranges of clocks as typed: several memory clocks, and what is refused."""

import pytest

from warpwatt.core.errors import InputError
from warpwatt.gpus import find
from warpwatt.sweep.clocks import candidates, offered_clocks, parse_range


def test_every_memory_clock_gets_every_sm_clock():
    asked = parse_range("500:1500:500,2100,3000:3500:500")
    pairs = [(one.sm / 1e6, one.memory / 1e6) for one in asked]
    assert pairs == [(sm, memory) for memory in (2100, 3000, 3500) for sm in (500, 1000, 1500)]
    assert all(one.ranged for one in asked)
    assert parse_range("500") == (parse_range("500,2100")[0]._replace(memory=None),)


@pytest.mark.parametrize(
    "text", ["", "x", "500,", "500,x", "900:500:10", "500:900", "500:900:0", "5", "500,1"]
)
def test_nonsense_is_refused(text):
    with pytest.raises(InputError):
        parse_range(text)


def test_clocks_the_gpu_does_not_offer_become_the_nearest_offered():
    gpu = find("Quadro RTX 8000")
    asked = candidates(gpu, parse_range("1001,5000,7000"))
    offered = min(offered_clocks(gpu), key=lambda clock: abs(clock - 1001e6))
    assert [(one.sm, one.memory) for one in asked] == [(offered, 5e9), (offered, 7e9)]
