"""The qualitative results of chapter 7 with the thesis' parameters (GTX 460)."""

from __future__ import annotations

import pytest
from validation.resios.programs import CONVOLUTION, MEMCPY, MUL, TRANSPOSE

from tests.published.resios.c_loops.helpers import mapping
from warpwatt.core.launch import Dim3
from warpwatt.gpus import find
from warpwatt.published.resios.prognosis import prognose


def prognosis(text, **values):
    function, where = mapping(text, **values)
    return prognose(function, where, find("GTX 460"))


def test_mul_gets_blocks_of_160_and_an_ilp_of_1():
    found = prognosis(MUL, n=1024, b=3)
    assert found.block == Dim3(160)
    assert found.warps.rule == "even work"
    assert found.parallelism == pytest.approx(1, abs=0.02)


def test_memcpy_is_hot_where_it_accesses():
    found = prognosis(MEMCPY, n=1 << 20)
    assert {a.array for a in found.accesses} == {"src", "dst"}
    assert all(a.heat > 0.3 for a in found.accesses)


def test_transpose_writes_cost_more_than_reads_and_blocks_are_largest():
    found = prognosis(TRANSPOSE, size_x=1024, size_y=1024)
    assert found.block == Dim3(32, 32)
    out, in_ = sorted(found.accesses, key=lambda a: a.array, reverse=True)
    assert (out.array, out.requests, in_.requests) == ("odata", 32, 1)
    assert out.delay_share > 5 * in_.delay_share


def test_convolution_keeps_its_filter_in_shared_memory():
    found = prognosis(CONVOLUTION, image_width=512, image_height=512, filter_width=5, filter_height=5)
    shared = {one.array: one for one in found.shared}
    assert shared["filter"].whole
    assert not shared["in_image"].whole
    assert not found.left_out
    assert all(not one.conflicts for one in shared.values())
    assert found.accesses[0].array == "out_image"
    assert found.block == Dim3(32, 32)
