"""What was proved of each kernel, for which sizes and how: the comments in front of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import Element, Name, expressions, walk, walk_expression
from warpwatt.published.resios.schedule.units import reads

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.nest import Array
    from warpwatt.published.resios.port.launches import LaunchedKernel
    from warpwatt.published.resios.schedule.build import BuiltKernel
    from warpwatt.published.resios.schedule.transform import Program

WIDTH = 100


def proof(one: LaunchedKernel, program: Program, *, reorders: bool) -> str:
    """Return C++ comments: the source lines, the loops that became threads, why that is allowed."""
    kernel = one.kernel
    lines = sorted({line for part in kernel.kernel.parts for line in part.unit.lines})
    where = f"line {lines[0]}" if lines[0] == lines[-1] else f"lines {lines[0]} to {lines[-1]}"
    sentences = [f"From {where}: {_threads(kernel)}.", *_independence(kernel, program), *_aliases(kernel)]
    if reorders:
        sentences.append("Sums come in another order than in the source.")
    return "".join(f"// {line}\n" for sentence in sentences for line in textwrap.wrap(sentence, WIDTH))


def _threads(kernel: BuiltKernel) -> str:
    first = kernel.kernel.parts[0]
    loops = [first.loop(counter).loop for counter in first.threads]
    if not loops:
        return "one thread, or the threads that share a reduction"
    named = [f"{loop.variable.name} (line {loop.line})" for loop in loops]
    return f"threads over {' and '.join(named)}"


def _independence(kernel: BuiltKernel, program: Program) -> Iterator[str]:
    """Yield what was proved of the iterations that became threads."""
    if not kernel.kernel.parts[0].threads:
        return
    written = sorted(a.name for a in _arrays(kernel, written=True))
    used = {n for part in kernel.kernel.parts for n in reads(part.unit)} | _sizes(kernel)
    ranges = program.symbolic.sizes if program.symbolic else {}
    texts = {n: f"{n} = {v}" for n, v in program.integers.items() if n in used}
    texts |= {n: f"{n} from {low} to {high}" for n, (low, high) in ranges.items() if n in used}
    sizes = ", ".join(texts.values())
    known = f"Proved for {sizes}" if sizes else "Proved"
    step = f" at one step of {' and '.join(kernel.times)}" if kernel.times else ""
    what = f"no two threads touch an element of {', '.join(written)} that one of them writes{step}"
    yield f"{known}, by elimination over whole numbers: {what}."


def _sizes(kernel: BuiltKernel) -> set[str]:
    """Return the scalars in the bounds of the loops."""
    found = [e for s in walk(kernel.function.nests) for e in expressions(s)]
    return {p.name for e in found for p in walk_expression(e) if isinstance(p, Name)}


def _aliases(kernel: BuiltKernel) -> Iterator[str]:
    """Yield why no two arrays are the same memory."""
    every = _arrays(kernel, written=False)
    written = _arrays(kernel, written=True)
    if len(every) < 2 or not written:
        return
    own = sorted(a.name for a in every if a.distinct)
    others = sorted(a.name for a in every if not a.distinct)
    why = "members of one structure, types that differ, or --assume-no-alias"
    parts = [f"{', '.join(own)} (restrict, or memory of their own)"] if own else []
    parts += [f"{', '.join(others)} ({why})"] if others else []
    yield f"Not the same memory: {'; '.join(parts)}."


def _arrays(kernel: BuiltKernel, *, written: bool) -> list[Array]:
    """Return the arrays in device memory that a kernel touches, or writes."""
    found: dict[str, Array] = {}
    for statement in walk(kernel.function.nests):
        target = getattr(statement, "target", None)
        for expression in [target] if written else expressions(statement):
            for part in walk_expression(expression) if expression is not None else ():
                inside = part is not expression and written
                if isinstance(part, Element) and not part.array.local and not inside:
                    found[part.array.name] = part.array
    return list(found.values())
