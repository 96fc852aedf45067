"""Probes to machine code, and whether that is the instructions meant, as many as meant, depending as meant.

All probes of a target are one module, which the compilers' cache keeps. A microbenchmark says nothing if the
compiler hoisted, merged or removed its work. So the loop of every probe is read back from the machine code:
the count of each opcode meant, how many other instructions there are, and the chains of dependences, over two
passes so that the one from pass to pass is seen too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import ToolchainError
from warpwatt.core.program import Flow, Instruction, Level, Program
from warpwatt.frontend.compilation import assemble_ptx
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.disassembly import Disassembly
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolkits import for_target, target_number
from warpwatt.lab.measure.microbench import ptx, suite
from warpwatt.lab.measure.microbench.placing import CUBIN, TOOLKIT

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Compiled
    from warpwatt.lab.measure.microbench.model import Expected, Probe

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
"""Targets that every probe is checked for."""


def compile_probes(probes: Iterable[Probe], target: str, *, cached: bool = True) -> Compiled:
    """Return the machine code of a module that holds the probes.

    Raises
    ------
    ToolchainError
        If a compiler is missing or refuses the generated text; the message holds ptxas's own.
    """
    text = ptx.module(target, [probe.source for probe in probes])
    options = CompileOptions(levels=frozenset({Level.PTX}), cached=cached)
    made = assemble_ptx(Source("<microbenchmarks>", text.encode()), for_target(target), options)
    if not made.cubin:
        raise ToolchainError("the microbenchmarks do not assemble", details="\n".join(made.warnings))
    return made


def disassemble_probes(probes: Iterable[Probe], target: str) -> Mapping[str, Program]:
    """Return the SASS program of each probe by its name.

    Raises
    ------
    ToolchainError
        As :func:`compile_probes`, or if nvdisasm fails.
    """
    chosen = tuple(probes)
    code = compile_probes(chosen, target).cubin
    disassembly = Disassembly(code, target, CompileOptions(levels=frozenset({Level.SASS})))
    found = {probe.name: disassembly.program(probe.name) for probe in chosen}
    if missing := [name for name, program in found.items() if program is None]:
        reasons = "\n".join(disassembly.warnings)
        raise ToolchainError(f"no machine code of {', '.join(missing[:3])}", details=reasons)
    return {name: program for name, program in found.items() if program is not None}


def compile_for(target: str) -> Compiled:
    """Return the machine code of every probe that exists on a target; raises as :func:`compile_probes`."""
    return compile_probes([p for p in suite.probes() if p.exists_on(target_number(target))], target)


def write_prepared(folder: Path, target: str, probes: Iterable[Probe]) -> None:
    """Compile some probes of a target into a prepared folder, none: no module; raises as above."""
    chosen = tuple(probes)
    for file in (CUBIN, TOOLKIT):
        (folder / file).unlink(missing_ok=True)
    if not chosen:
        return
    made = compile_probes(chosen, target)
    (folder / CUBIN).write_bytes(made.cubin)
    names = "".join(f"{probe.name}\n" for probe in chosen)
    (folder / TOOLKIT).write_text(f"{made.toolkit}\n{names}", encoding="utf-8")


EMPTY_LIMIT = 4
"""Instructions that a kernel which does nothing may have."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check found in one probe on one target.

    Attributes
    ----------
    counts
        Instructions of the loop by opcode.
    overhead
        Instructions of the loop that are not meant.
    problems
        What is not as meant, in words; empty: verified.
    """

    probe: Probe
    target: str
    counts: dict[str, int]
    overhead: int
    problems: tuple[str, ...]


def check_probes(probes: Iterable[Probe], target: str) -> tuple[Verdict, ...]:
    """Compile every probe that exists on a target, disassemble it and verify it.

    Raises
    ------
    ToolchainError
        If a compiler or the disassembler is missing or fails.
    """
    chosen = tuple(p for p in probes if p.exists_on(target_number(target)))
    made = disassemble_probes(chosen, target)
    return tuple(verify(probe, target, made[probe.name]) for probe in chosen)


def verify(probe: Probe, target: str, program: Program) -> Verdict:
    """Compare a probe's machine code with what is meant."""
    expected = probe.expected_on(target_number(target))
    if expected is None:
        count = len(program.instructions)
        long = (f"{count} instructions, meant to be empty",) if count > EMPTY_LIMIT else ()
        return Verdict(probe, target, {}, count, long)
    loops = find_loops(program)
    if len(loops) != 1:
        return Verdict(probe, target, {}, 0, (f"{len(loops)} loops instead of one",))
    loop = loops[0]
    meant = find_measured(loop, expected)
    others = [one for one, is_measured in zip(loop, meant, strict=True) if not is_measured]
    overhead = sum(1 for one in others if not is_filler(one))
    problems = _wrong_counts(loop, meant, expected)
    if overhead > expected.overhead:
        problems.append(f"{overhead} other instructions in the loop, at most {expected.overhead} allowed")
    problems = problems or _wrong_chains(loop, meant, expected)
    return Verdict(probe, target, dict(Counter(i.opcode for i in loop)), overhead, tuple(problems))


def find_loops(program: Program) -> list[tuple[Instruction, ...]]:
    """Return the instructions of every loop: from the target of a jump backwards to the jump."""
    loops = []
    for one in program.instructions:
        starts = [program.labels[label] for label in one.targets] if one.flow is Flow.JUMP else []
        loops += [program.instructions[s : one.index + 1] for s in starts if s <= one.index]
    return loops


def find_measured(loop: Sequence[Instruction], expected: Expected) -> list[bool]:
    """Return for each instruction whether it is one that the probe measures; the loop's counter is none."""
    control = _control(loop)
    return [
        position not in control and any(re.fullmatch(p, one.opcode) for p in expected.opcodes)
        for position, one in enumerate(loop)
    ]


def _control(loop: Sequence[Instruction]) -> set[int]:
    """Return the positions of branches and of everything they depend on within the loop."""
    found = {p for p, one in enumerate(loop) if one.flow not in (Flow.NEXT, Flow.BARRIER)}
    awaited: set[str] = set()
    for position in [*reversed(range(len(loop)))] * 2:
        one = loop[position]
        if position in found or awaited & set(one.writes):
            found.add(position)
            awaited = awaited - set(one.writes) | set(one.reads)
    return found


def is_filler(one: Instruction) -> bool:
    """Whether an instruction only takes an issue slot: ptxas spaces tensor instructions with such."""
    return one.opcode in ("UIADD3", "NOP") and not one.writes and not one.reads


def _wrong_counts(loop: Sequence[Instruction], meant: Sequence[bool], expected: Expected) -> list[str]:
    opcodes = [one.opcode for one, is_measured in zip(loop, meant, strict=True) if is_measured]
    found = {p: sum(bool(re.fullmatch(p, opcode)) for opcode in opcodes) for p in expected.opcodes}
    return [
        f"{found[pattern]} × {pattern} instead of {wanted}"
        for pattern, wanted in expected.opcodes.items()
        if found[pattern] != wanted
    ]


def _wrong_chains(loop: Sequence[Instruction], meant: Sequence[bool], expected: Expected) -> list[str]:
    """Check the dependences: n chains have exactly n instructions at each depth of two passes.

    An opcode meant besides the first (a conversion's way back) lies in the same chains.
    """
    if expected.chains is None:
        return []
    depths = Counter(depth for depth in chain_depths([*loop, *loop], [*meant, *meant]) if depth)
    if expected.chains == 0:
        return [] if set(depths) <= {1} else [f"{max(depths)} instructions in a row depend on each other"]
    length = 2 * expected.total // expected.chains
    wrong = [d for d in range(1, length + 1) if depths[d] != expected.chains]
    if wrong or max(depths) > length:
        return [
            f"no {expected.chains} chains of {length}: {depths[wrong[0] if wrong else length]} at a depth"
        ]
    return []


def chain_depths(loop: Sequence[Instruction], meant: Sequence[bool]) -> list[int]:
    """Return for each instruction how many instructions meant lie on the longest way to it, itself included.

    0 stands for an instruction that is not meant; it hands on the depth of what it reads.
    """
    reached: dict[str, int] = {}
    depths = []
    for one, is_measured in zip(loop, meant, strict=True):
        before = max((reached.get(name, 0) for name in one.reads), default=0)
        depth = before + 1 if is_measured else before
        reached |= dict.fromkeys(one.writes, depth)
        depths.append(depth if is_measured else 0)
    return depths
