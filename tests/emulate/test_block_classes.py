"""Grids whose blocks do unequal work: every class is met, and weighed by its share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.arguments import Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.block_classes import block_classes, sample_by_work
from warpwatt.emulate.sampling import sample
from warpwatt.isa.ptx import lower, parse
from warpwatt.program.binding import bind
from warpwatt.program.block_work import BlockWork, block_work

HEAD = ".target sm_90 .entry k(.param .u32 n) { .reg .u32 %r<9>; .reg .pred %p<4>; mov.u32 %r1, %ctaid.x; "
LOOP = (
    "mov.u32 %r8, 0; LOOP: add.u32 %r8, %r8, 1; add.u32 %r7, %r7, %r8; "
    "setp.lt.u32 %p3, %r8, %r6; @%p3 bra LOOP; ret; }"
)
GUARD = HEAD + "ld.param.u32 %r2, [n]; setp.ge.u32 %p1, %r1, %r2; @%p1 bra END; mov.u32 %r6, 50; " + LOOP
GUARD = GUARD.replace("ret; }", "END: ret; }")
MODULO = HEAD + (
    "ld.param.u32 %r2, [n]; rem.u32 %r3, %r1, %r2; setp.eq.u32 %p1, %r3, 7; selp.u32 %r6, 500, 1, %p1; "
    + LOOP
)
TRIANGLE = HEAD + "add.u32 %r6, %r1, 1; " + LOOP


def work_of(text: str, blocks: int, n: int = 0) -> BlockWork | None:
    launch = Launch(Dim3(blocks), Dim3(32), arguments={"n": Scalar(n)})
    return block_work(bind(lower(parse(text), "k"), launch))


def interpreted(text: str, block: int, n: int) -> int:
    """Count a block's instructions by following the source by hand."""
    if text is GUARD:
        return 4 + 1 if block >= n else 4 + 2 + 50 * 4 + 1
    if text is MODULO:
        return 6 + (500 if block % n == 7 else 1) * 4 + 1
    return 3 + (block + 1) * 4 + 1


@pytest.mark.parametrize("text", [GUARD, MODULO, TRIANGLE], ids=["guard", "modulo", "triangle"])
@given(blocks=st.integers(2, 2000), n=st.integers(8, 900))
def test_the_work_of_every_block_is_counted(text, blocks, n):
    found = work_of(text, blocks, n)
    wanted = [interpreted(text, block, n) for block in range(blocks)]
    assert found.blocks.tolist() == list(range(blocks))
    np.testing.assert_allclose(found.instructions, wanted)


@pytest.mark.parametrize("working", [1, 300, 5_000_000])
def test_large_grids_are_weighed_without_looking_at_every_block(working):
    found = work_of(GUARD, 20_000_000, working)
    assert len(found.blocks) < 200_000
    assert found.weights.sum() == pytest.approx(20_000_000)
    assert found.total == pytest.approx(working * 207 + (20_000_000 - working) * 5, rel=1e-3)


def test_a_rare_class_is_looked_for_until_its_work_is_known():
    found = work_of(MODULO, 100_000, 1000)
    assert found.total == pytest.approx(100 * 2007 + 99_900 * 11)


def test_blocks_that_do_alike_have_no_classes():
    launch = Launch(Dim3(1000), Dim3(32))
    text = HEAD.replace("(.param .u32 n)", "()") + "mov.u32 %r6, 9; " + LOOP
    assert block_work(bind(lower(parse(text), "k"), launch)) is None
    assert sample_by_work(Dim3(1000), None).units == sample(Dim3(1000)).units


def test_a_short_last_block_is_met_by_its_place():
    by_place = sample(Dim3(1000))
    assert sample_by_work(Dim3(1000), work_of(GUARD, 1000, 999)).units == by_place.units


@pytest.mark.parametrize(
    ("text", "n"), [(GUARD, 40), (MODULO, 1000), (TRIANGLE, 0)], ids=["guard", "modulo", "triangle"]
)
def test_a_sample_stands_for_the_work_of_the_grid_in_whole_and_in_part(text, n):
    work = work_of(text, 16_000, n)
    taken = sample_by_work(Dim3(16_000), work)
    each = dict(zip(work.blocks.tolist(), work.instructions.tolist(), strict=True))
    whole = range(len(taken.units))
    assert sum(taken.weights(whole)) == pytest.approx(16_000)
    first = range(taken.needed)
    assert len({taken.strata[k] for k in first}) == taken.needed, "each class once, before any comes twice"
    for part in (whole, first):
        weights = taken.weights(part)
        total = sum(w * each[taken.units[k][0]] for k, w in zip(part, weights, strict=True))
        assert total == pytest.approx(work.total, rel=0.05)
    only = taken.weights([0])[0] * each[taken.units[0][0]]
    assert only == pytest.approx(work.total, rel=0.05), "what was not met is given the work it has"


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=60))
def test_classes_part_the_grid(instructions):
    size = len(instructions)
    work = BlockWork(
        np.arange(size), np.ones(size), np.array([i % 3 for i in instructions]), np.array(instructions, float)
    )
    classes = block_classes(work)
    members = np.concatenate([c.members for c in classes])
    assert sorted(members.tolist()) == list(range(size))
    assert sum(c.total for c in classes) == pytest.approx(sum(instructions))
