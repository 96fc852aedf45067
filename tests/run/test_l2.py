"""What launches of a run find in L2, against the warm L2 of one launch that repeats."""

from dataclasses import replace

import pytest

from tests.emulate.caches import kernels
from warpwatt.core.launch import L2State
from warpwatt.core.program import Resources
from warpwatt.emulate.sampling import sample_blocks
from warpwatt.emulate.workload import footprints, workload
from warpwatt.gpus import find
from warpwatt.run.l2 import STEPS, Found, L2Contents

GPU = find("rtx3090")
MIB = 1 << 20


def execution(blocks):
    kernel = kernels.copy(blocks)  # of 1 KiB per block; the RTX 3090's L2 has 6 MiB
    return kernel.execution(sample_blocks(kernel.grid).numbers)


@pytest.mark.parametrize("blocks", [1_000, 5_000, 6_500, 9_000, 30_000])
def test_a_launch_that_repeats_finds_a_warm_l2(blocks):
    done, l2 = execution(blocks), L2Contents.of(GPU)
    names = dict(enumerate(footprints(done)))
    touched = {address: footprints(done)[name] for address, name in names.items()}
    for _ in range(3):
        l2.touch(touched)
    found = l2.find(touched)
    held = {names[address]: share for address, share in found.shares}
    warm = replace(done, launch=replace(done.launch, l2=L2State.WARM))
    again = replace(done, launch=replace(done.launch, l2=L2State.PREVIOUS, in_l2=held))
    moved = [workload(each, GPU, Resources(registers=16)).dram.total for each in (warm, again)]
    assert moved[1] == pytest.approx(moved[0], abs=1024 * blocks / STEPS)


def test_the_first_launch_finds_nothing_and_one_behind_much_else_what_is_in_its_way():
    l2 = L2Contents.of(GPU)
    assert l2.find({1: MIB}) == Found()
    l2.touch({1: MIB})
    l2.touch({2: 40 * MIB})
    assert l2.find({1: MIB}) == Found(L2State.PREVIOUS)


def test_what_is_touched_between_pushes_a_buffer_out_by_and_by():
    shares = []
    for between in (0, 3, 5, 6, 7, 9, 18):
        l2 = L2Contents.of(GPU)
        l2.touch({1: MIB})
        l2.touch({2: between * MIB})
        shares.append(dict(l2.find({1: MIB}).shares).get(1, 0.0))
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], shares[-1]) == (1.0, 0.0)


def test_a_flushed_l2_holds_nothing():
    l2 = L2Contents.of(GPU, flushed=True)
    l2.touch({1: MIB})
    assert l2.find({1: MIB}) == Found()


def test_parts_copied_one_after_the_other_add_up():
    l2 = L2Contents.of(GPU)
    for _ in range(4):
        l2.copy_to(1, MIB / 4, MIB)
    assert l2.find({1: MIB}).shares == ((1, 1.0),)
    l2.forget(1)
    assert l2.find({1: MIB}) == Found()
