"""Atomics whose addresses are not hit evenly: the busiest 256 bytes, found in a sample of blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.test_load_store import HISTOGRAM
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.case import Case
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Kernel, Resources
from warpwatt.core.reuse import BYPASS, READ, WRITE, LineStream
from warpwatt.emulate.caches.stream import busiest_piece
from warpwatt.emulate.first_execution import execute
from warpwatt.emulate.workload import workload
from warpwatt.gpus import default_clocks, find
from warpwatt.isa.ptx import lower, parse
from warpwatt.models.roofs import ATOMIC_CYCLES, L2_CLOCK_SHARE, atomics_roof

BLOCKS, EACH = 20, 256


def stream(words):
    """Return the stream of blocks each of whose lanes hits one of its row of ``words``, one by one."""
    words = np.asarray(words)
    block = np.repeat(np.arange(len(words)), words.shape[1]).astype(np.int32)
    flat = words.reshape(-1).astype(np.int64)
    zeros = np.zeros(len(flat), np.int32)
    kind = np.full(len(flat), READ | WRITE | BYPASS, np.uint8)
    bit = (1 << (flat // 8 % 4)).astype(np.uint8)
    return LineStream(zeros, block, block, zeros.astype(np.int64), flat // 32, bit, kind)


def normal(words, count, seed=0):
    draw = np.random.default_rng(seed).normal(words / 2, words / 10, count)
    return np.clip(draw, 0, words - 1).astype(np.int64)


@pytest.mark.parametrize("words", [512, 768, 4096])
def test_a_sample_knows_the_share_of_the_busiest_piece(words):
    every = np.bincount(normal(words, 1_000_000, seed=1) // 64)
    found = busiest_piece(stream(normal(words, BLOCKS * EACH).reshape(BLOCKS, EACH)), 0, whole=False)
    assert found == pytest.approx(every.max() / every.sum(), rel=0.08)


@pytest.mark.parametrize("words", [256, 512, 4096, 65536])
def test_what_is_hit_evenly_has_no_busiest_piece(words):
    even = np.random.default_rng(0).integers(0, words, (BLOCKS, EACH))
    assert busiest_piece(stream(even), 0, whole=False) is None


def test_what_only_its_own_block_hits_is_busy_in_a_whole_grid_alone():
    """One block counts in a single place, the others each in many of their own."""
    own = np.arange(BLOCKS)[:, None] * 4096 + np.arange(EACH) * 16
    own[3] = 3 * 4096
    assert not busiest_piece(stream(own), 0, whole=False)
    assert busiest_piece(stream(own), 0, whole=True) == 1 / BLOCKS


def test_the_slices_of_l2_wait_for_the_busiest_one_of_a_histogram(tmp_path):
    """As 768 bins of ten million normally distributed numbers on an RTX 3080: 3.39 ms, even bins 1.68."""
    data = normal(768, 1 << 20).astype(np.int32)
    np.save(tmp_path / "data.npy", data)
    program = lower(parse(HISTOGRAM), "k")
    launch = Launch(Dim3(len(data) // 256), Dim3(256), arguments={
        "0": Buffer(DType.I32, data.shape, Fill.FILE, path=str(tmp_path / "data.npy")),
        "1": Buffer(DType.I32, (768,), Fill.ZEROS),
    })  # fmt: skip
    execution = execute(program, launch)
    gpu, resources = find("rtx3080"), Resources(16)
    kernel = Kernel("k", "k", program.target, resources, ptx=program)
    case = Case(kernel, workload(execution, gpu, resources), launch, gpu, default_clocks(gpu))
    sectors = np.unique(np.arange(len(data)) // 32 * 96 + data // 8) % 96  # of each warp's request
    busiest = np.bincount(sectors // 8).max()
    found = atomics_roof(case).seconds * case.clocks.sm * L2_CLOCK_SHARE
    assert found == pytest.approx(ATOMIC_CYCLES * busiest, rel=0.05)
