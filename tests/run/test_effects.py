"""Which launches need not be computed again."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from warpwatt.emulate.arena import ARENA
from warpwatt.emulate.ir import Memory as IrMemory
from warpwatt.emulate.ir import Type
from warpwatt.emulate.lift import lift
from warpwatt.emulate.provenance import ANYWHERE
from warpwatt.emulate.textures import Texture
from warpwatt.isa.ptx import lower, parse
from warpwatt.run.codes import Memory
from warpwatt.run.effects import Versions, _of_bulk, effects
from warpwatt.run.memory import Allocations, Block

X, Y = ARENA, ARENA + 4096
BODY = """.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 x, .param .u64 y) {
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
"""
COPY = "ld.global.u32 %r1, [%d1]; st.global.u32 [%d2], %r1; ret; }"
COUNT = "atom.global.add.u32 %r1, [%d1], 1; ret; }"
CHASE = "ld.global.u64 %d3, [%d1]; st.global.u32 [%d3], 1; ret; }"
KEY = ("k",)


@pytest.fixture
def allocations():
    found = Allocations()
    found.add(Block(X, 4096, Memory.DEVICE))
    found.add(Block(Y, 4096, Memory.DEVICE))
    return found


def of(text, allocations, x=X, y=Y + 64):
    return effects(lift(lower(parse(BODY + text), "k")), struct.pack("<QQ", x, y), allocations)


def test_a_copy_from_one_buffer_to_another_is_repeatable(allocations):
    found = of(COPY, allocations)
    assert (found.reads, found.writes, found.repeatable) == ({X}, {Y}, True)
    assert found.may_wait
    assert not of("ld.global.u32 %r1, [%d1]; ret; }", allocations).may_wait  # nothing would ever ask for it


@pytest.mark.parametrize(("text", "y"), [(COPY, X + 8), (COUNT, Y), (CHASE, Y)])
def test_in_place_atomic_and_unseen_writes_are_not(text, y, allocations):
    assert not of(text, allocations, y=y).repeatable


FETCH = "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r3}, [%d1, {%r1}]; st.global.u32 [%d2], %r1; ret; }"
DRAW = "sust.b.1d.b32.trap [%d1, {%r1}], {%r1}; ret; }"


def test_textures_are_read_and_surfaces_written_wherever_objects_lie(allocations):
    allocations.textures[7] = Texture(X + 8, 16)
    found = of(FETCH, allocations, x=7)
    assert (found.reads, found.writes, found.repeatable) == ({X}, {Y}, True)
    assert of(DRAW, allocations, x=7).writes == {X}
    allocations.textures[8] = Texture(Y, 16)
    assert not of(FETCH, allocations, x=7).repeatable
    allocations.textures[8] = Texture(Y + 1_000_000, 16)
    assert of(FETCH, allocations, x=7).reads is None


def test_a_launch_is_done_until_something_else_writes_what_it_touches(allocations):
    versions, found = Versions(), of(COPY, allocations)
    assert not versions.is_done(KEY, found)
    versions.computed(KEY, found)
    assert versions.is_done(KEY, found)
    assert not versions.is_done(("other",), found)
    for touched in ([X], [Y], None):
        versions.write(touched)
        assert not versions.is_done(KEY, found)
        versions.computed(KEY, found)
    versions.write([ARENA + 65536])
    assert versions.is_done(KEY, found)


BULK = {
    "load": "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2]; ret; }",
    "store": "cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r1], 16; ret; }",
}


@pytest.mark.parametrize(("kind", "reads", "writes"), [("load", {X}, set()), ("store", set(), {Y})])
def test_bulk_copies_read_and_write_as_loads_and_stores_do(kind, reads, writes, allocations):
    found = of(BULK[kind], allocations)
    assert (found.reads, found.writes) == (reads, writes)


def test_a_tensor_lies_where_a_map_among_the_parameters_says():
    """A map that lies in global memory may name any."""
    sizes = {"map": 128, "n": 4, "x": 8}
    routine: Any = SimpleNamespace(
        program=SimpleNamespace(parameters=[SimpleNamespace(name=name, size=sizes[name]) for name in sizes])
    )
    tensor, plain = (IrMemory("global", Type.I8, bulk="load", rank=rank) for rank in (2, 0))
    assert _of_bulk(routine, tensor, frozenset()) == {"map"}
    assert _of_bulk(routine, tensor, frozenset({"x"})) == {ANYWHERE}
    assert _of_bulk(routine, plain, frozenset({"x"})) == {"x"}
    assert _of_bulk(routine, plain, frozenset()) == {ANYWHERE}
