"""Blocks that do the same, each at its own place: a few of them are run, and the grid is known as well."""

import pytest

from tests.emulate.test_execution import COPY, launch, program
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.execution import Execution
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate import emulation
from warpwatt.emulate.alike_units import move_alike
from warpwatt.emulate.strategies import LIMITS, UNTRIED, LaunchAnalysis, emulate
from warpwatt.program.binding import bind

BLOCKS = 1000
FOLDED = COPY.replace("shl.b64 %rd6, %rd1, 2;", "and.b64 %rd6, %rd1, 8191; shl.b64 %rd6, %rd6, 2;")
"""Every 32nd block of 256 threads begins anew."""
STEERED = COPY.replace("st.global", "setp.lt.f32 %p2, %f1, 0f3F000000; @%p2 bra END; st.global")
UNEQUAL = COPY.replace(
    "ld.global",
    "mov.u32 %r1, %ctaid.x; and.b32 %r1, %r1, 1; setp.eq.u32 %p2, %r1, 0; @%p2 bra END; ld.global",
)
"""Every second block copies nothing."""
LONGER = COPY.replace(
    "st.global",
    "and.b64 %rd7, %rd1, 256; setp.eq.u64 %p2, %rd7, 0; @%p2 bra L; add.u32 %r1, %r1, 1; L: st.global",
)
"""Every second block does a little more, and asks for the same."""
SPREAD = COPY.replace(
    "ld.global.f32 %f1, [%rd4]; st.global",
    """mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd7, %r1, 4; mov.u32 %r2, 0;
AGAIN: ld.global.f32 %f1, [%rd4]; add.u64 %rd4, %rd4, %rd7; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4;
@%p2 bra AGAIN; st.global""",
)
"""The later of four reads lie the further apart the larger the block's number is."""
ROWS = """.target sm_90 .entry k(.param .u64 x, .param .u64 y) {
.reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .f32 %f<4>;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r2, PITCH, %r3; mad.lo.u32 %r4, %r1, 32, %r4; mul.wide.u32 %rd3, %r4, 4;
add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+16512];
st.global.f32 [%rd2], %f1; ret; }"""
"""A block reads its row, a word beside it and one below."""


def rows(width: int, height: int) -> Launch:
    buffers = {name: Buffer(DType.F32, (4128 * (height + 2),), Fill.ZEROS) for name in ("x", "y")}
    return Launch(Dim3(width, height), Dim3(32), arguments=buffers)


def emulated(text: str, given: Launch) -> Execution:
    """Emulate with nothing known of the blocks' work."""
    found = emulate(LaunchAnalysis(program(text), given), UNTRIED)
    assert isinstance(found, Execution)
    return found


@pytest.mark.parametrize(
    ("text", "given"),
    [(COPY, launch(BLOCKS, 256 * BLOCKS - 50)), (ROWS.replace("PITCH", "4128"), rows(120, 300))],
)
def test_few_blocks_that_do_the_same_say_what_all_do(monkeypatch, text, given):
    few = emulated(text, given)
    monkeypatch.setattr(emulation, "reads_contents", lambda _: True)
    many = emulated(text, given)
    assert few.blocks_run <= many.blocks_run * 2 / 3
    assert (few.counts, few.lanes) == (many.counts, many.lanes)
    for growth, other in zip(few.reuse.growths, many.reuse.growths, strict=True):
        assert (growth.buffer, growth.lags, growth.step) == (other.buffer, other.lags, other.step)
        assert growth.total == pytest.approx(other.total)
    for index, access in few.accesses.items():
        assert access.sectors == pytest.approx(many.accesses[index].sectors, rel=0.03)


@pytest.mark.parametrize("text", [FOLDED, STEERED, UNEQUAL, LONGER, SPREAD])
def test_blocks_are_left_out_only_where_their_places_say_all(text):
    given = launch(BLOCKS, 256 * BLOCKS, elements=257 * BLOCKS + 4 * BLOCKS)
    assert emulated(text, given).blocks_run >= 24


def test_two_blocks_lie_on_every_line():
    bound = bind(program(COPY), launch(BLOCKS, 256 * BLOCKS))
    found = emulation.run_sample(bound, LIMITS).sampled
    inside = [place for place in found.units if found.sample.strata[place] == (1, 0, 0)]
    runs = [run for place, run in zip(found.units, found.runs, strict=True) if place in inside]
    places = found.sample.blocks(inside).coordinates
    assert move_alike(runs, places)
    assert not move_alike(runs[:2], places[:2])
    assert not move_alike(runs[:3], places[:3])


def test_rows_that_begin_anywhere_in_a_line_are_looked_at_often():
    """Some blocks ask for four sectors, some for five: a few of them do not say how many."""
    assert emulated(ROWS.replace("PITCH", "4100"), rows(120, 300)).blocks_run > 30


def test_the_rim_is_run_whatever_the_inside_does():
    found = emulated(COPY, launch(BLOCKS, 256 * BLOCKS - 250))
    last = [count for count in found.counts if count != found.counts[0]]
    assert last
    assert found.counts[0] == 8 * BLOCKS
    assert max(last) == 8 * BLOCKS - 7  # of the last block one warp has something to do
