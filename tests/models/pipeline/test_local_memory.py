"""Which level answers spilled registers: the rules that hardware counters show."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warpwatt.core.execution import Occupancy, Traffic
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Access, Instruction, MemoryAccess, Space
from warpwatt.models.pipeline.local_memory import local_misses
from warpwatt.models.pipeline.model import misses

MIB = 2**20


def case(
    local: int, warps: int = 6, l2: float = 5.5 * MIB, carveout: int = 65536, stream: float = 0.0
) -> Any:
    """Return 68 SMs of 96 KiB with one block each."""
    seats = Occupancy(1, warps, 32, "registers", {}, shared_carveout=carveout)
    work = SimpleNamespace(occupancy=seats, dram=Traffic(stream), waves=1.0, active_sms=68)
    gpu = SimpleNamespace(l2_size=int(5.5 * MIB), l1_shared_per_sm=98304)
    kernel = SimpleNamespace(resources=SimpleNamespace(local=local))
    return SimpleNamespace(workload=work, gpu=gpu, kernel=kernel, launch=Launch(Dim3(1000), Dim3(32 * warps)))


def test_without_stacks_nothing_misses() -> None:
    assert local_misses(case(0))[0] == (0.0, 0.0)


@pytest.mark.parametrize(("local", "miss"), [(100, 0.0), (160, 0.0), (176, 1.0), (616, 1.0)])
def test_loads_miss_l1_once_the_stacks_of_an_sm_do_not_fit(local: int, miss: float) -> None:
    assert local_misses(case(local))[0][0] == miss


def test_stores_pass_l1_and_reach_dram_once_stacks_and_stream_fill_l2() -> None:
    assert local_misses(case(16))[1] == pytest.approx((1.0, 16 * 192 * 68 / (5.5 * MIB)), rel=1e-6)
    assert local_misses(case(16, stream=6 * MIB))[1] == (1.0, 1.0)
    assert local_misses(case(616))[1] == (1.0, 1.0)


def test_loads_come_from_dram_as_far_as_l2_is_too_small() -> None:
    """RTX 2080 Ti, 616 bytes in 192 threads per SM: counters say 0.34 of the loads."""
    assert local_misses(case(616))[0][1] == pytest.approx(0.28, abs=0.01)
    assert local_misses(case(304))[0][1] == 0.0


def test_the_simulator_gets_these_misses_whatever_is_known_of_other_memory() -> None:
    made = case(616)
    kinds = ((Space.LOCAL, Access.LOAD), (Space.LOCAL, Access.STORE), (Space.GLOBAL, Access.LOAD))
    code = [Instruction(n, "X", memory=MemoryAccess(*kind, 4)) for n, kind in enumerate(kinds)]
    known = SimpleNamespace(l1_hits=0.75, l2_hits=0.5, l2_in_flight=0.0)
    made.workload.execution = SimpleNamespace(program=SimpleNamespace(instructions=code))
    made.workload.l1 = made.workload.l2 = Traffic(1.0, 1.0)
    made.workload.hits = dict.fromkeys(range(3), known)
    loads, stores = local_misses(made)
    assert misses(made) == {0: loads, 1: stores, 2: (0.25, 0.5)}
