from __future__ import annotations

from warpwatt.frontend.pressure import max_threads
from warpwatt.frontend.ptxas import read_report

REPORT = """\
ptxas info    : 24 bytes gmem, 8 bytes cmem[3]
ptxas info    : Compiling entry function 'first' for 'sm_70'
ptxas info    : Function properties for first
    40 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 2 barriers, 40 bytes cumulative stack size, 1024 bytes smem, \
380 bytes cmem[0], 16 bytes cmem[2]
ptxas info    : Compiling entry function 'second' for 'sm_70'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 352 bytes cmem[0]
"""


def test_every_entry_has_its_own_numbers():
    found = read_report(REPORT, ".entry second(.param .u64 p)\n.maxntid 8, 4, 2\n.minnctapersm 1\n{ }")
    first, second = found["first"], found["second"]
    assert (first.registers, first.static_shared, first.local, first.barriers) == (255, 1024, 40, 2)
    assert (first.spill_stores, first.spill_loads, first.constant) == (4, 12, 396)
    assert (second.registers, second.local, second.constant, second.max_threads) == (8, 0, 352, 64)
    assert not first.assumed
    assert first.max_threads is None


def test_entries_without_numbers_are_assumed():
    (resources,) = read_report("ptxas info : Compiling entry function 'f' for 'sm_90'").values()
    assert resources.assumed


def test_limits_are_read_from_directives():
    text = ".visible .entry a(\n.param .u32 p\n)\n.reqntid 32\n{ }\n.entry b() { .maxntid }\n"
    assert max_threads(text) == {"a": 32}
