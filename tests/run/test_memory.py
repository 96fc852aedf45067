"""What allocations of a program are called, and what a launch finds in them."""

import struct
from dataclasses import replace
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.execution import Execution
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Kernel, Level, Program, Resources
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.arena import ARENA
from warpwatt.isa.ptx import lower, parse
from warpwatt.run.codes import Memory
from warpwatt.run.launches import loader
from warpwatt.run.memory import SHARED, Allocations, Arena, Block

FLAGS = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 x) {
  .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .pred %p;
  ld.param.u64 %d1, [x]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1]; setp.eq.u32 %p, %r2, 0; @%p bra DONE;
  mov.u32 %r3, 0; st.global.u32 [%d1], %r3;
DONE: ret; }
"""


def test_allocations_of_one_parameters_name_are_told_apart():
    """A kernel's first parameter points to each in turn: together they would have the size of one."""
    allocations = Allocations()
    for place in range(3):
        allocations.add(Block(ARENA + 4096 * place, 1024 * (place + 1), Memory.DEVICE))
    for place in (0, 1, 0, 2):
        allocations.named(ARENA + 4096 * place + 8, "x")
    assert [row.name for row in allocations.table().rows] == ["x", "x (2)", "x (3)"]
    assert allocations.by_name("x (2)").bytes == 2048


def rows(allocations: Allocations) -> list[tuple[int, int]]:
    return [(row.address - ARENA, row.bytes) for row in allocations.table().rows]


def test_blocks_of_a_programs_own_allocator_stand_for_allocations():
    allocations = Allocations()
    allocations.add(Block(ARENA, 4096, Memory.DEVICE))
    allocations.give(ARENA)
    allocations.give(ARENA + 1024)  # the first block ends where the second begins
    assert rows(allocations) == [(0, 1024), (1024, 3072)]
    allocations.give(ARENA + 2048)
    allocations.lose([ARENA + 1024], "why")
    allocations.take_back(ARENA + 1024)
    assert not allocations.lost
    allocations.take_back(ARENA)
    allocations.give(ARENA)  # all of what the two had
    assert rows(allocations) == [(0, 2048), (2048, 2048)]
    assert allocations.at(ARENA + 1500).address == ARENA
    allocations.remove(ARENA)
    assert rows(allocations) == []
    assert (allocations.bytes, allocations.peak) == (0, 4096)


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 3), st.sampled_from(["add", "remove", "name"]))))
def test_look_ups_find_what_a_search_of_all_allocations_finds(steps):
    """Each name, address and kind of memory, whatever came and went."""
    allocations, known = Allocations(), {}
    for place, kind, step in steps:
        at = ARENA + 4096 * place
        if step == "add":
            known[at] = Block(at, 2048 * (place % 3), list(Memory)[kind], "v" * (kind == 0))
            allocations.add(known[at])
        elif step == "remove":
            allocations.remove(at)
            known.pop(at, None)
        else:
            allocations.named(at, "x")
        blocks = [allocations.at(one) for one in sorted(known)]
        assert [replace(b, name="") for b in blocks] == [replace(known[a], name="") for a in sorted(known)]
        assert allocations.at(at + 3000) in (None, allocations.at(at))
        rows = [(b.address, b.bytes, b.name or f"{b.address:#x}") for b in blocks if b.bytes]
        assert [(row.address, row.bytes, row.name) for row in allocations.table().rows] == rows
        for name in {name for *_, name in rows} | {"x", "nobody"}:
            wanted = [b for b in blocks if name == (b.name or f"{b.address:#x}")]
            assert [allocations.by_name(name)] == (wanted or [None])  # names are told apart
        assert allocations.has_shared == any(b.kind in SHARED for b in blocks)


def test_look_ups_take_no_longer_with_thousands_of_allocations():
    """Each launch looks up its pointers: 20,000 look-ups of 10,000 allocations are no search."""
    allocations = Allocations()
    for place in range(10_000):
        allocations.add(Block(ARENA + 4096 * place, 4096, Memory.DEVICE))
        allocations.named(ARENA + 4096 * place, str(place % 100))
    start = process_time()
    for place in range(20_000):
        block = allocations.at(ARENA + 2048 * place)
        assert allocations.by_name(block.name) == block
        allocations.table(), allocations.shared_lost, allocations.has_shared
    assert process_time() - start < 1


def analysed(blocks: int, program: Program) -> Execution:
    """Return what a launch does whose blocks each take back a flag of theirs."""
    arena, allocations = Arena(1 << 30), Allocations()
    allocations.add(Block(ARENA, 4 * blocks, Memory.DEVICE, "flags"))
    arena.bytes_at(ARENA, 4 * blocks).view("<u4")[:] = 1
    kernel = Kernel("k", "k", "sm_90", Resources(registers=8), ptx=program)
    load = loader(program, struct.pack("<Q", ARENA), arena, allocations)
    found = analyse_launch(kernel, Launch(Dim3(blocks), Dim3(32)), (Level.PTX,), load=load)
    arena.close()
    return found


def test_what_blocks_that_were_looked_at_have_written_is_forgotten():
    """A block that takes its flag back is run first to see what it costs, then with all others."""
    program = lower(parse(FLAGS), "k")
    store = next(i.index for i in program.instructions if i.opcode.startswith("st"))
    assert analysed(40, program).counts[store] == 40


@pytest.mark.parametrize("blocks", [40, 40_000], ids=["whole grid", "sample"])
def test_accesses_tell_which_allocation_they_reach(blocks):
    found = analysed(blocks, lower(parse(FLAGS), "k"))
    assert found.reuse is not None
    assert {(growth.buffer, growth.limit) for growth in found.reuse.growths} == {("flags", 4.0 * blocks)}
