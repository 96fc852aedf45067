"""Occupancy against NVIDIA's own calculator, a brute-force placement of warps, and known answers."""

from __future__ import annotations

import random
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.gpus import capability, find, occupancy
from warpwatt.gpus.capabilities import versions

if TYPE_CHECKING:
    from warpwatt.core.gpu import Capability, Gpu

INCLUDE = Path(sysconfig.get_paths()["purelib"]) / "nvidia" / "cu13" / "include"
COMPILER = shutil.which("cc") or shutil.which("gcc")
LIMITERS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8, "barriers": 16}


@dataclass(frozen=True)
class Question:
    """One kernel and launch for one capability."""

    cap: Capability
    registers: int
    static_shared: int
    barriers: int
    block: int
    dynamic_shared: int
    carveout: int | None

    @property
    def resources(self) -> Resources:
        return Resources(self.registers, static_shared=self.static_shared, barriers=self.barriers)

    @property
    def launch(self) -> Launch:
        return Launch(
            Dim3(2**31 - 1), Dim3(self.block), dynamic_shared=self.dynamic_shared, carveout=self.carveout
        )

    def line(self) -> str:
        cap = self.cap
        major, minor = cap.version.split(".")
        legacy = {None: 0, 0: 2, 50: 3, 100: 1}  # before 7.0 the preference was none, L1, equal or shared
        volta = int(major) >= 7
        carveout = -1 if self.carveout is None or not volta else self.carveout
        cache = 0 if volta else legacy[self.carveout]
        fields = (
            *(major, minor, cap.max_threads_per_block, cap.max_threads_per_sm),
            *(
                cap.max_registers_per_block,
                cap.registers_per_sm,
                cap.static_shared_limit,
                cap.max_shared_per_sm,
            ),
            *(cap.max_shared_per_block, cap.reserved_shared_per_block, self.registers, self.static_shared),
            *(self.barriers, self.block, self.dynamic_shared, carveout, cache),
        )
        return " ".join(map(str, fields))


def on(cap: Capability) -> Gpu:
    """A GPU of any capability."""
    return replace(find("h200"), capability=cap)


def ask(chance: random.Random, cap: Capability) -> Question:
    """A random kernel and launch, near the limits as often as not."""
    volta = int(cap.version.split(".")[0]) >= 7
    edges = [c - cap.reserved_shared_per_block for c in cap.shared_carveouts]
    edges += [e // n for e in edges for n in (2, 3, 5)] + [0, 1, cap.max_shared_per_block]
    shared = max(0, chance.choice(edges) + chance.choice([-1, 0, 1, chance.randrange(4096)]))
    static = min(chance.choice([0, 0, 48, chance.randrange(8192)]), shared)
    # 3.7 has a pool of 128 KiB: its equal split is no percentage of the shared memory.
    preferences = (
        [None, *range(101)] if volta else [None, 0, 100] if cap.version == "3.7" else [None, 0, 50, 100]
    )
    return Question(
        cap=cap,
        registers=chance.choice([0, chance.randint(1, cap.max_registers_per_thread), chance.randint(16, 63)]),
        static_shared=static,
        barriers=chance.choice([0, 0, 1, 1, chance.randint(2, 16)]),
        block=chance.choice([32 * chance.randint(1, 32), chance.randint(1, 1024), 1024, 1025, 2000]),
        dynamic_shared=shared - static,
        carveout=chance.choice(preferences),
    )


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """NVIDIA's calculator, compiled."""
    if COMPILER is None or not (INCLUDE / "cuda_occupancy.h").exists():
        pytest.skip("needs a C compiler and NVIDIA's cuda_occupancy.h")
    program = tmp_path_factory.mktemp("oracle") / "oracle"
    source = Path(__file__).parent / "oracle.c"
    subprocess.run([COMPILER, "-O1", "-I", INCLUDE, "-o", program, source], check=True)
    return program


@pytest.mark.parametrize("version", [v for v in versions() if not v.startswith("2.")])
def test_equals_nvidias_calculator(oracle: Path, version: str) -> None:
    """Blocks, limiter and allocations of 800 random launches for each capability the header knows."""
    chance = random.Random(f"occupancy {version}")
    questions = [ask(chance, capability(version)) for _ in range(800)]
    lines = "\n".join(q.line() for q in questions)
    answers = subprocess.run(
        [oracle], input=lines, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(answers) == len(questions)
    for question, answer in zip(questions, answers, strict=True):
        status, blocks, limiting, registers, shared = map(int, answer.split())
        assert status == 0, question
        found = occupancy(on(question.cap), question.resources, question.launch)
        assert found.blocks_per_sm == blocks, question
        assert limiting & LIMITERS[found.limiter], (question, found)
        assert found.shared_per_block == shared, question
        assert found.registers_per_block == registers, question


def place(question: Question) -> int:
    """Place blocks one by one, warp by warp, until something runs out. Independent of the formulas."""
    cap = question.cap
    partitions = cap.warp_allocation_granularity
    free_registers = [cap.registers_per_sm // partitions] * partitions
    free_warps, free_blocks = cap.max_warps_per_sm, cap.max_blocks_per_sm
    free_shared = cap.max_shared_per_sm
    need_registers = 0
    while need_registers < question.registers * 32:
        need_registers += cap.register_allocation_granularity
    need_shared = 0
    while need_shared < question.static_shared + question.dynamic_shared + cap.reserved_shared_per_block:
        need_shared += cap.shared_allocation_granularity
    warps = [None for start in range(0, question.block, 32)]
    placed = 0
    while free_blocks and free_warps >= len(warps) and free_shared >= need_shared:
        for _ in warps:
            roomiest = max(range(partitions), key=lambda p: free_registers[p])
            if free_registers[roomiest] < need_registers:
                return placed
            free_registers[roomiest] -= need_registers
        free_blocks -= 1
        free_warps -= len(warps)
        free_shared -= need_shared
        placed += 1
    return placed


@pytest.mark.parametrize("version", versions())
def test_equals_placing_warps_one_by_one(version: str) -> None:
    """Every capability, 2.x too, for launches that the driver accepts and no preferred carve-out."""
    chance = random.Random(f"placement {version}")
    compared = 0
    for _ in range(400):
        question = replace(ask(chance, capability(version)), carveout=None, barriers=0)
        found = occupancy(on(question.cap), question.resources, question.launch)
        if 0 not in found.limits.values():
            assert found.blocks_per_sm == place(question), question
            compared += 1
    assert compared > 80


def test_fermi_allocates_by_64_registers() -> None:
    """The calculator no longer knows 2.x: 21 registers make 704 a warp, and each scheduler holds 23 warps."""
    gpu = find("m2075")
    found = occupancy(gpu, Resources(registers=21), Launch(Dim3(10_000), Dim3(192)))
    assert (found.registers_per_block, found.limits["registers"], found.blocks_per_sm) == (704 * 6, 7, 7)


def test_the_grid_limits_a_small_launch() -> None:
    found = occupancy(find("h200"), Resources(registers=32), Launch(Dim3(133), Dim3(256)))
    assert found.limiter == "grid"
    assert found.limits["grid"] == 2
    assert (found.blocks_per_sm, found.resident_blocks, found.resident_warps) == (8, 2, 16)
    assert (found.theoretical, found.resident) == (1, 16 / 64)


@pytest.mark.parametrize(
    ("name", "dynamic", "percent", "carveout"),
    [
        ("h200", 0, None, 8 * 1024),  # 8 blocks of 1 KiB that the driver reserves
        ("h200", 20 * 1024, None, 196 * 1024),  # 8 × 21 KiB
        ("h200", 227 * 1024, None, 228 * 1024),
        ("h200", 1024, 50, 132 * 1024),  # 114 KiB rounded up
        ("h200", 40 * 1024, 0, 64 * 1024),  # one block must fit
        ("v100", 0, None, 0),
        ("gtx 1080", 0, None, 96 * 1024),  # nothing to choose
        ("k20", 0, None, 48 * 1024),
        ("k20", 0, 0, 16 * 1024),
    ],
)
def test_carve_out(name: str, dynamic: int, percent: int | None, carveout: int) -> None:
    launch = Launch(Dim3(9999), Dim3(256), dynamic_shared=dynamic, carveout=percent)
    assert occupancy(find(name), Resources(registers=32), launch).shared_carveout == carveout


@settings(max_examples=60, deadline=None)
@given(version=st.sampled_from(versions()), seed=st.integers(0, 10**6))
def test_the_drivers_carve_out_does_not_limit(version: str, seed: int) -> None:
    """Asking for all shared memory never gives more blocks than the driver's own choice."""
    question = ask(random.Random(seed), capability(version))
    free, most = (
        occupancy(on(question.cap), question.resources, replace(question, carveout=percent).launch)
        for percent in (None, 100)
    )
    assert free.blocks_per_sm == most.blocks_per_sm
    assert free.shared_carveout <= most.shared_carveout


@settings(max_examples=60, deadline=None)
@given(version=st.sampled_from(versions()), seed=st.integers(0, 10**6))
def test_more_resources_never_mean_more_blocks(version: str, seed: int) -> None:
    """Without a preferred carve-out: one that is too small is replaced by a larger, which holds more."""
    question = replace(ask(random.Random(seed), capability(version)), carveout=None)
    gpu = on(question.cap)
    base = occupancy(gpu, question.resources, question.launch).blocks_per_sm
    greedier = (
        replace(question, registers=question.registers + 1),
        replace(question, static_shared=question.static_shared + 1),
        replace(question, block=question.block + 1),
    )
    assert all(occupancy(gpu, q.resources, q.launch).blocks_per_sm <= base for q in greedier)
