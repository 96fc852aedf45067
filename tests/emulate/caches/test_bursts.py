"""Accesses that a warp issues back to back take one turn."""

from dataclasses import replace

import numpy as np
import pytest

from tests.emulate.caches.test_phases import ROUTINE, trace
from warpwatt.core.program import Access, Instruction, Level, MemoryAccess, Program, Space
from warpwatt.emulate.caches.bursts import burst_numbers
from warpwatt.emulate.caches.l1 import l1_profile
from warpwatt.emulate.caches.stream import line_stream


def program(*code):
    """Return the program of some (kind, registers written, registers read); kind "" computes."""
    listed = []
    for index, (kind, writes, reads) in enumerate(code):
        space = Space.SHARED if kind == "shared" else Space.GLOBAL
        access = Access.STORE if kind == "store" else Access.LOAD
        memory = MemoryAccess(space, access, 4) if kind else None
        listed.append(Instruction(index, kind, writes=writes, reads=reads, memory=memory))
    return Program("k", Level.PTX, "sm_90", tuple(listed))


LOADS = (("load", ("a",), ("p",)), ("load", ("b",), ("q",)))


def test_a_burst_ends_where_a_load_is_waited_for():
    used = program(*LOADS, ("", ("c",), ("a",)), LOADS[0])
    assert burst_numbers(used).tolist() == [0, 0, 1, 1]
    overwritten = program(*LOADS, ("", ("a",), ()), LOADS[0])
    assert burst_numbers(overwritten).tolist() == [0, 0, 1, 1]


def test_stores_come_alone_and_shared_memory_is_not_waited_for():
    code = program(LOADS[0], ("store", (), ("c",)), ("store", (), ("c",)), LOADS[1])
    assert burst_numbers(code).tolist() == [0, 1, 2, 2]
    code = program(LOADS[0], ("shared", ("c",), ("p",)), ("", ("d",), ("c",)), LOADS[1])
    assert burst_numbers(code).tolist() == [0, 0, 0, 0]


def test_a_burst_ends_with_its_basic_block():
    code = program(*LOADS, ("load", ("c",), ("p",)), ("load", ("d",), ("q",)))
    seen = trace([[2, 2, 2]], [[(0, 0), (1, 1), (2, 1), (3, 2)]])
    seen = replace(seen, lines=np.ones(4, np.uint64), line_start=np.arange(5))
    assert line_stream(seen, 1, code, ROUTINE).time.tolist() == [0, 1, 1, 3]


@pytest.mark.parametrize(("wait", "hits"), [(False, 1.0), (True, 0.0)])
def test_what_a_warp_reads_back_to_back_is_not_lost_between(wait, hits):
    """Two loads of one sector by each of many warps: L1 holds a few lines."""
    between = ("", ("c",), ("a",)) if wait else ("", ("c",), ())
    code, warps = program(LOADS[0], between, LOADS[1]), 64
    lines = np.repeat(np.arange(warps, dtype=np.uint64) << np.uint64(7) | np.uint64(1), 2)
    seen = replace(
        trace([[1]] * warps, [[(0, 0), (2, 0)]] * warps), lines=lines, line_start=np.arange(len(lines) + 1)
    )
    profile = l1_profile(line_stream(seen, warps, code, ROUTINE), 1, 1)
    assert profile.read_shares(8)[2].hit == hits
