"""How cases are changed: streams, counts and traffic stay consistent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpwatt
from tests.what_if.cases import predicted
from warpwatt.core.streams import WarpStreams
from warpwatt.emulate.caches.code import cold_code_bytes
from warpwatt.what_if import changes
from warpwatt.what_if.chains import shared_out
from warpwatt.what_if.divergence import kept_steps, sides
from warpwatt.what_if.edit import fewer_sectors, with_hits
from warpwatt.what_if.removal import without
from warpwatt.what_if.traffic import SUM_MORE

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 12
MEMORY = (1, 4, 5, 9)
"""Instructions of the random programs that access memory; sometimes all lanes are off."""


def random_streams(seed: int) -> WarpStreams:
    """Return streams of blocks of random stretches of twelve instructions."""
    rng = np.random.default_rng(seed)
    warps, blocks = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    starts, steps, accesses = [0], [], []
    for _ in range(warps * blocks):
        for _ in range(int(rng.integers(0, 8))):
            first = int(rng.integers(0, SIZE))
            behind = int(rng.integers(first + 1, SIZE + 1))
            if rng.random() < 0.2:  # a warp that is at a barrier
                first = behind = -1
            steps.append((first, behind, len(accesses)))
            accesses += [i for i in range(first, behind) if i in MEMORY and rng.random() < 0.8]
        starts.append(len(steps))
    n = len(accesses)
    values = rng.random((4, n))
    return WarpStreams(
        warps, tuple(range(blocks)), np.array(starts), np.array(steps, np.int64).reshape(-1, 3),
        np.array(accesses, np.int64), *values,
    )  # fmt: skip


def executed(streams: WarpStreams) -> Iterator[list[tuple[int, float | None]]]:
    """Yield per warp (instruction, lanes of its access or None): each step reads its own accesses only."""
    ends = [*streams.steps[1:, 2].tolist(), len(streams.access_instruction)]
    for a, b in zip(streams.starts, streams.starts[1:], strict=False):
        found: list[tuple[int, float | None]] = []
        for (first, behind, at), end in zip(streams.steps[a:b].tolist(), ends[a:b], strict=True):
            own = dict(zip(streams.access_instruction[at:end].tolist(), streams.lanes[at:end], strict=True))
            found += [(i, float(own[i]) if i in own else None) for i in range(first, behind)]
        yield found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sets(st.integers(0, SIZE - 1), max_size=SIZE))
def test_removed_instructions_are_gone_and_nothing_else(seed: int, gone: set[int]) -> None:
    """Every warp does the same in the same order, with the same accesses, but for those instructions."""
    streams = random_streams(seed)
    mask = np.zeros(SIZE, bool)
    mask[list(gone)] = True
    left = list(executed(without(streams, mask)))
    assert left == [[pair for pair in warp if pair[0] not in gone] for warp in executed(streams)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, SIZE - 1), st.integers(2, 5))
def test_iterations_are_shared_out(seed: int, head: int, parts: int) -> None:
    """Each step is done by one of the warps that stand for a warp; only first steps may be done twice."""
    streams = random_streams(seed)
    inside = np.zeros(SIZE, bool)
    inside[head:] = True
    shared = shared_out(streams, inside, head, parts)
    warps = streams.warps_per_block
    assert shared.warps_per_block == parts * warps
    for number in range(len(streams.starts) - 1):
        block, warp = divmod(number, warps)
        rows = [
            tuple(row)
            for part in range(parts)
            for row in _steps(shared, block * warps * parts + part * warps + warp)
        ]
        own = [tuple(row) for row in _steps(streams, number)]
        each = [part * warps + warp + block * warps * parts for part in range(parts)]
        working = [row for row in own if row[1] > row[0]]
        assert all(any(b > a for a, b, _ in _steps(shared, n)) == bool(working) for n in each)
        for row in own:
            rows.remove(row)
        assert all(row == working[0] for row in rows)


def _steps(streams: WarpStreams, number: int) -> list[list[int]]:
    rows: list[list[int]] = streams.steps[streams.starts[number] : streams.starts[number + 1]].tolist()
    return rows


def test_both_sides_of_a_branch_are_taken_by_different_warps() -> None:
    """Half of the warps take either side, each warp one of them."""
    execution = predicted("branches").case.workload.execution
    assert execution.streams is not None
    found = sides(execution)
    assert [side.share for side in found] == pytest.approx([0.5, 0.5])
    masks = []
    for side in found:
        inside = np.zeros(len(execution.program.instructions), bool)
        inside[list(side.inside)] = True
        keep = kept_steps(execution.streams, inside, side)
        own = inside[execution.streams.steps[:, 0]] & keep
        takes = np.add.reduceat(own, execution.streams.starts[:-1]) > 0
        assert takes.mean() == pytest.approx(0.5, abs=0.03)
        masks.append(takes)
    assert not (masks[0] & masks[1]).any()


@pytest.mark.parametrize("name", ["transpose", "structures", "branches", "spills"])
def test_traffic_adds_up_and_never_grows_on_its_way(name: str) -> None:
    """After every change totals are those of instructions and, from DRAM, code; L2 sees no more than L1."""
    case = predicted(name).case
    for change in changes(case):
        work = change.case.workload
        for level in ("l1", "l2", "dram"):
            total = sum(getattr(h, level).total for h in work.hits.values())
            total += cold_code_bytes(work.execution) if level == "dram" else 0.0
            assert getattr(work, level).total == pytest.approx(total, rel=1e-6, abs=1.0)
        assert work.l2.total <= work.l1.total * 1.0001
        assert work.dram.read <= max(case.workload.dram.read, work.l2.total) * 1.0001
        for hits in work.hits.values():
            assert 0 <= hits.l1_hits <= 1
            assert 0 <= hits.l2_hits <= 1


def test_what_one_field_brings_the_others_still_need_when_all_are_coalesced() -> None:
    """Three fields of a structure share its sectors; as arrays they need all their bytes, not a third."""
    case = predicted("structures").case
    reads = [i for i, h in case.workload.hits.items() if h.l1.read]
    kept = dict.fromkeys(reads, 4 / 32)
    changed = with_hits(case, fewer_sectors(case, kept)).workload
    assert changed.dram.read == pytest.approx(3 * 4 * 4194304, rel=0.01)
    assert case.workload.dram.read == pytest.approx(32 * 4194304, rel=0.01)


def test_changes_need_a_trace() -> None:
    """Without streams there is nothing to take troubles away from."""
    case = predicted("transpose").case
    work = replace(case.workload, execution=replace(case.workload.execution, streams=None))
    assert changes(replace(case, workload=work)) == ()


def test_a_kernel_that_sums_in_shared_memory_is_not_told_to() -> None:
    """What is left to do is fewer sums: blocks that each add up more."""
    launch = (
        "// warpwatt: --grid 4096 --block 256 --arg n=1048576 --arg x=u8[n]:zeros --arg bins=u32[256]:zeros\n"
    )
    source = (
        launch
        + """
__global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}"""
    )
    found = warpwatt.predict(source, gpu="a100")
    fixes = [change.fix for change in changes(found.case) if change.kind == "atomics"]
    assert fixes == [SUM_MORE]
