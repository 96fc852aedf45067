"""Where nothing tells what a launch does: refusals that name what would."""

from __future__ import annotations

import math
from collections.abc import Iterable

from warpwatt.core.errors import ArgumentError, UndecidedError
from warpwatt.core.execution import Execution
from warpwatt.core.program import Program
from warpwatt.emulate.narrowing import WIDE
from warpwatt.native.demangle import demangle
from warpwatt.program.cfg import control_flow
from warpwatt.program.counting import UNKNOWN_CALL, unknown_trips
from warpwatt.program.loops import loop_lines, natural_loops

_BOTH_TAILS = 2 * 1.2816
"""Standard deviations between the 10 % and the 90 % quantile of a normal distribution."""


def check_loop_lines(program: Program, lines: Iterable[int]) -> None:
    """Check that every line has a loop.

    Raises
    ------
    ArgumentError
        If one has none; it names the lines that have.
    """
    flow = control_flow(program)
    known = {line for loop in natural_loops(flow).loops for line in loop_lines(flow, loop)}
    for line in lines:
        if line in known:
            continue
        shown = ", ".join(map(str, sorted(known)))
        raise ArgumentError(
            f"kernel {demangle(program.name)} has no loop at line {line} as it is compiled "
            "(short ones are unrolled)",
            hint=f"write --loop LINE=COUNT for a line of a loop: {shown}" if known else "leave --loop out",
        )


def require_known_loops(counted: Execution, reason: str = "", fixes: Iterable[str] = ()) -> Execution:
    """Return an execution that analysis counted, if it knows how often every loop runs.

    ``reason`` says why running it does not tell, ``fixes`` what would make that possible.

    Raises
    ------
    UndecidedError
        If it does not; it names the loops, and what tells.
    """
    unknown = unknown_trips(counted)
    if not unknown:
        return counted
    place = None if unknown[0].line is None else unknown[0].line.outermost
    ways = (fixes, (a.fix for a in unknown))
    told = filter(None, (" ".join(dict.fromkeys(filter(None, way))) for way in ways))
    raise UndecidedError(
        "; ".join([*(a.message for a in unknown), *filter(None, [reason])]),
        hint=", or ".join(told) or "compile with -lineinfo, so that --loop LINE=COUNT can name it",
        file=None if place is None else place.file,
        line=None if place is None else place.line,
    )


def require_known_calls(counted: Execution, reason: str) -> Execution:
    """Return an execution that analysis counted, if it knows all functions that are called.

    Raises
    ------
    UndecidedError
        If one is called through a pointer, or lies in another file: it may be all that the kernel does.
    """
    from warpwatt.emulate.system_functions import SYSTEM_FUNCTIONS  # which few kernels need

    calls = [a for a in counted.assumptions if a.parameter.startswith(UNKNOWN_CALL)]
    unknown = [a for a in calls if a.parameter.split()[2] not in SYSTEM_FUNCTIONS]
    if not unknown:
        return counted
    name = " ".join(unknown[0].parameter.split()[2:]).partition(" at ")[0]
    place = None if unknown[0].line is None else unknown[0].line.outermost
    raise UndecidedError(
        f"what the kernel does is not known: it calls {name}, whose body is not known here, and {reason}",
        hint="choose a GPU whose machine code can be run (--gpu), or compile all that it calls in one file",
        file=None if place is None else place.file,
        line=None if place is None else place.line,
    )


def require_narrow(found: Execution, reason: str) -> Execution:
    """Return an execution unless what it takes for granted makes its time mean nothing.

    Raises
    ------
    UndecidedError
        If the interval is :data:`WIDE` and nothing that the user could say would narrow it.
    """
    spread = math.hypot(*(a.spread for a in found.assumptions))
    if math.exp(_BOTH_TAILS * spread) <= WIDE or any(a.fix for a in found.assumptions):
        return found
    taken = [a.message for a in sorted(found.assumptions, key=lambda a: -a.spread)][:2]
    raise UndecidedError(
        f"what the kernel does is not known: {reason}; {'; '.join(taken)}",
        hint="choose a GPU whose machine code needs none of these instructions (--gpu)",
    )
