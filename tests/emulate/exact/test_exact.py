"""Executed instructions, sectors, lines and conflicts that can be counted by hand, at both levels.

The machine code differs by compiler, its memory accesses do not: a warp asks for what the source says. Where
the text of a program is ours too (``counted.ptx``), every executed warp instruction is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpwatt.core.arguments import parse_arguments
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Access, Flow, Space
from warpwatt.emulate.first_execution import execute
from warpwatt.frontend import toolchain
from warpwatt.frontend.load import load
from warpwatt.isa import ptx

if TYPE_CHECKING:
    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Kernel, Program

HERE = Path(__file__).parent
TARGETS = ("ptx", "sm_75", "sm_90")
LOAD, STORE = (Space.GLOBAL, Access.LOAD), (Space.GLOBAL, Access.STORE)
SHARED_LOAD, SHARED_STORE = (Space.SHARED, Access.LOAD), (Space.SHARED, Access.STORE)


@dataclass(frozen=True, slots=True)
class Sums:
    """Totals of a launch over the accesses of one kind: threads that ask, sectors, lines, shared passes."""

    threads: float = 0.0
    sectors: float = 0.0
    lines: float = 0.0
    passes: float = 0.0
    colliding: float = 0.0


def _off(threads: int, sectors: int, lines: int, colliding: int | None = None) -> Sums:
    return Sums(threads, sectors, lines, colliding=-1 if colliding is None else colliding)


def _on(threads: int, passes: int) -> Sums:
    return Sums(threads, passes=passes)


@dataclass(frozen=True, slots=True)
class Expected:
    """A launch of one kernel and what it does, whole grid."""

    grid: int
    block: int
    sums: dict[tuple[Space, Access], Sums]


def _conflicts(ways: int) -> Expected:
    """One warp writes and reads 32 words; ``ways`` of them lie in each bank that is used."""
    return Expected(
        1,
        32,
        {
            SHARED_STORE: _on(32, ways),
            SHARED_LOAD: _on(32, ways),
            LOAD: _off(32, 4, 1),
            STORE: _off(32, 4, 1),
        },
    )


EXPECTED = {
    # 4 warps, each 32 words side by side: 128 bytes = 4 sectors = 1 line.
    "copy": Expected(2, 64, {LOAD: _off(128, 16, 4), STORE: _off(128, 16, 4)}),
    # Words 8 bytes apart: 256 bytes = 8 sectors = 2 lines per warp.
    "stride_2": Expected(2, 64, {LOAD: _off(128, 32, 8), STORE: _off(128, 16, 4)}),
    # Words 128 bytes apart: a line each.
    "stride_32": Expected(2, 64, {LOAD: _off(128, 128, 128), STORE: _off(128, 16, 4)}),
    # Words 1..32 of a line: 3½ sectors and 1 word of the next line: 5 sectors, 2 lines per warp.
    "misaligned": Expected(2, 64, {LOAD: _off(128, 20, 8), STORE: _off(128, 16, 4)}),
    # One word for the warp.
    "broadcast": Expected(2, 64, {LOAD: _off(128, 4, 4), STORE: _off(128, 16, 4)}),
    # 64 rows of 96: 3 warps per block read side by side, and write 64 words = 256 bytes apart.
    "transposition": Expected(64, 96, {LOAD: _off(6144, 768, 192), STORE: _off(6144, 6144, 6144)}),
    "distance_1": _conflicts(1),
    # Words 8 bytes apart lie in 16 of 32 banks, and so on.
    "distance_2": _conflicts(2),
    "distance_4": _conflicts(4),
    "distance_8": _conflicts(8),
    "distance_32": _conflicts(32),
    # Words 132 bytes apart: bank t, every lane its own.
    "padded": _conflicts(1),
    # 256 bytes are two passes of 32 banks, 512 bytes four; off chip 8 and 16 sectors.
    "shared_64": Expected(
        1,
        32,
        {SHARED_STORE: _on(32, 2), SHARED_LOAD: _on(32, 2), LOAD: _off(32, 8, 2), STORE: _off(32, 8, 2)},
    ),
    "shared_128": Expected(
        1,
        32,
        {SHARED_STORE: _on(32, 4), SHARED_LOAD: _on(32, 4), LOAD: _off(32, 16, 4), STORE: _off(32, 16, 4)},
    ),
    # Threads 0..7 and every odd one of 40: a warp of 20 lanes in 4 sectors, and one of 4 (33, 35, 37, 39)
    # in 1. The second block begins at word 40, so its first warp lies in sectors 5..8 of 2 lines (words
    # 40..71), its second (words 73, 75, 77, 79) in sector 9.
    "divergent": Expected(2, 40, {LOAD: _off(48, 10, 5), STORE: _off(48, 10, 5)}),
    # Halves 128, 64, 32, ..., 1: 255 sums of two words, by 4 + 2 + 1 + 5 warps, and the last word once more.
    "tree": Expected(
        3,
        256,
        {
            SHARED_LOAD: _on(3 * (2 * 255 + 1), 3 * (2 * 12 + 1)),
            SHARED_STORE: _on(3 * (256 + 255), 3 * (8 + 12)),
            LOAD: _off(3 * 256, 3 * 32, 3 * 8),
            STORE: _off(3, 3, 3),
        },
    ),
    # All 32 lanes of 4 warps on one word.
    "one_address": Expected(
        2, 64, {LOAD: _off(128, 16, 4), (Space.GLOBAL, Access.REDUCTION): _off(128, 4, 4, 128)}
    ),
    # Lane 0 of each of 4 warps writes.
    "shuffles": Expected(2, 64, {LOAD: _off(128, 16, 4), STORE: _off(4, 4, 4)}),
}

# Executions of an instruction, by what the opcode begins with: (PTX, SASS) -> warps that execute it.
EXECUTED = {
    # Each of 3 × 8 warps passes 8 barriers.
    ("tree", ("bar.sync", "barrier.sync"), ("BAR",)): 3 * 8 * 8,
    # 5 steps of 4 warps.
    ("shuffles", ("shfl",), ("SHFL",)): 5 * 4,
    ("distance_1", ("bar.sync", "barrier.sync"), ("BAR",)): 1,
}

# counted.ptx: blocks of 64 threads, 3 of them; instructions of warp 0 and warp 1 of a block.
COUNTED = {
    "straight": (4, 4),
    # A guard that is off does not take the instruction away.
    "guarded": (5, 5),
    # Warp 0 (lanes below 40): 3, the jump taken, sub, ret. Warp 1: both sides, 3 + 3 + 1, then ret once.
    "both_ways": (5, 8),
    # 2, then a warp goes round as often as its last thread: tid + 1 times three; ret once.
    "lane_loop": (2 + 3 * 32 + 1, 2 + 3 * 64 + 1),
    # 1, five rounds of four, ret.
    "barriers": (1 + 5 * 4 + 1, 1 + 5 * 4 + 1),
}


@lru_cache(maxsize=4)
def _kernels(target: str) -> dict[str, Kernel]:
    if not toolchain.installed().nvcc:
        pytest.skip("needs nvcc")
    return {kernel.name: kernel for kernel in load(HERE / "kernels.cu", target)}


@lru_cache(maxsize=64)
def _execution(name: str, level: str) -> Execution:
    kernel = _kernels("sm_75" if level == "ptx" else level)[name]
    expected = EXPECTED[name]
    arguments = parse_arguments(["0=f32[8192]:zeros", "1=f32[8192]:ones"])
    launch = Launch(Dim3(expected.grid), Dim3(expected.block), arguments=arguments)
    assert kernel.ptx is not None
    assert kernel.sass is not None
    return execute(kernel.ptx if level == "ptx" else _named(kernel.sass, kernel.ptx), launch)


def _named(machine: Program, names: Program) -> Program:
    pairs = zip(machine.parameters, names.parameters, strict=True)
    return replace(machine, parameters=tuple(replace(n, name=m.name, offset=m.offset) for m, n in pairs))


def _sums(execution: Execution) -> dict[tuple[Space, Access], Sums]:
    found: dict[tuple[Space, Access], Sums] = {}
    for i in execution.program.instructions:
        if (
            i.memory is None
            or i.memory.space not in (Space.GLOBAL, Space.SHARED)
            or i.index not in execution.accesses
        ):
            continue
        count, pattern = execution.counts[i.index], execution.accesses[i.index]
        unused = i.memory.access is Access.ATOMIC  # PTX does not tell an atomic whose result nobody reads
        key = (i.memory.space, Access.REDUCTION if unused else i.memory.access)
        old = found.get(key, Sums())
        on_chip = i.memory.space is Space.SHARED
        found[key] = Sums(
            old.threads + count * execution.lanes[i.index],
            old.sectors + (0 if on_chip else count * pattern.sectors),
            old.lines + (0 if on_chip else count * pattern.lines),
            old.passes + (count * pattern.wavefronts if on_chip else 0),
            old.colliding + count * pattern.collisions,
        )
    return found


@pytest.mark.parametrize("level", TARGETS)
@pytest.mark.parametrize("name", EXPECTED)
def test_accesses_are_those_counted_by_hand(name: str, level: str) -> None:
    """Threads, sectors, lines, passes and collisions of each kind of access; no other kind occurs."""
    found = _sums(_execution(name, level))
    assert found.keys() == EXPECTED[name].sums.keys()
    for kind, wanted in EXPECTED[name].sums.items():
        seen = found[kind]
        assert (seen.threads, seen.sectors, seen.lines, seen.passes) == pytest.approx(
            (wanted.threads, wanted.sectors, wanted.lines, wanted.passes)
        ), kind
        if wanted.colliding > 0:
            assert seen.colliding == pytest.approx(wanted.colliding)


@pytest.mark.parametrize("level", TARGETS)
@pytest.mark.parametrize(("case", "wanted"), EXECUTED.items())
def test_instructions_execute_as_often_as_counted_by_hand(
    case: tuple[str, tuple[str, ...], tuple[str, ...]], wanted: int, level: str
) -> None:
    """Barriers and shuffles, which machine code has as many of as the source."""
    name, portable, machine = case
    execution = _execution(name, level)
    opcodes = portable if level == "ptx" else machine
    instructions = execution.program.instructions
    assert sum(execution.counts[i.index] for i in instructions if i.opcode.startswith(opcodes)) == wanted


@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("name", ["copy", "stride_2", "stride_32", "misaligned", "transposition"])
def test_straight_machine_code_executes_up_to_its_exit(name: str, target: str) -> None:
    """Every warp executes every instruction before the first EXIT, and none behind it."""
    execution = _execution(name, target)
    until = next(i.index for i in execution.program.instructions if i.flow is Flow.EXIT and i.guard is None)
    assert execution.warp_instructions == pytest.approx((until + 1) * execution.launch.warps)


@pytest.mark.parametrize("name", COUNTED)
def test_every_executed_instruction_is_counted(name: str) -> None:
    """The sum over the grid, and nothing that the sampling of blocks may add."""
    text = (HERE / "counted.ptx").read_text()
    program = ptx.lower(ptx.parse(text), name)
    arguments = parse_arguments(["n=5"]) if program.parameters else {}
    execution = execute(program, Launch(Dim3(3), Dim3(64), arguments=arguments))
    assert execution.warp_instructions == 3 * sum(COUNTED[name])
