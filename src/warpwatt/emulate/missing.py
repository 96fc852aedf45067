"""Arguments that a launch leaves out and that may be anything: :func:`complete`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Buffer, DType, Scalar
from warpwatt.core.execution import Assumption, Execution
from warpwatt.core.launch import Launch
from warpwatt.core.program import Instruction
from warpwatt.program.binding import display_name, names_in

if TYPE_CHECKING:
    from warpwatt.program.binding import BoundLaunch

ASSUMED_BYTES = 1 << 36
"""Address space behind a pointer nobody described: only what a kernel touches comes into being."""
SPREAD = 0.05
"""Standard deviation of the logarithm of the time that a buffer's unknown size and alignment may cost.
Where its contents decide what threads do, that is an assumption of its own."""


def complete(bound: BoundLaunch, count: Callable[[], Execution]) -> tuple[Launch, tuple[Assumption, ...]]:
    """Return the launch with everything it leaves out, and what that takes for granted.

    ``count`` is the static analysis of the launch: it shows which parameters memory is accessed through,
    and as what. It ends with an error where a branch or address depends on a number that is left out; so
    the numbers that are still missing decide nothing. What the program does not even name needs no analysis.
    """
    launch, missing = bound.launch, bound.missing
    named = names_in(bound.program)
    counted = count() if any(p.name.partition("+")[0] in named for _, p in missing) else None
    buffers, numbers = {}, {}
    for index, parameter in missing:
        name = display_name(parameter, index)
        accessed = parameter.source_name or parameter.name
        kinds = () if counted is None else tuple(_elements(counted, accessed))
        if kinds:
            buffers[name] = Buffer(kinds[0], (ASSUMED_BYTES // kinds[0].size,), assumed_fill=True)
        elif not parameter.pointer:
            numbers[name] = Scalar(1)
    assumptions = (*_assumed_buffers(buffers), *_assumed_numbers(numbers))
    return replace(launch, arguments={**launch.arguments, **buffers, **numbers}), assumptions


def _assumed_buffers(buffers: Mapping[str, Buffer]) -> Iterator[Assumption]:
    if buffers:
        listed = ", ".join(f"{name} ({buffer.dtype})" for name, buffer in buffers.items())
        subject = f"buffer {listed} is" if len(buffers) == 1 else f"buffers {listed} are"
        fix = " ".join(f"--arg {name}={buffer.dtype}[SIZE]" for name, buffer in buffers.items())
        message = f"{subject} not given: as large as the kernel touches"
        yield Assumption(message, "buffers not given", SPREAD, fix=fix)


def _assumed_numbers(numbers: Mapping[str, Scalar]) -> Iterator[Assumption]:
    if numbers:
        listed = ", ".join(numbers)
        subject = f"{listed} is" if len(numbers) == 1 else f"{listed} are"
        fix = " ".join(f"--arg {name}=NUMBER" for name in numbers)
        message = f"{subject} not given: 1 is taken; no branch and no address depends on it"
        yield Assumption(message, "numbers not given", 0.0, fix=fix)


def _elements(counted: Execution, buffer: str) -> Iterator[DType]:
    """Yield the element types a buffer is accessed as."""
    for index, access in counted.accesses.items():
        if access.buffer == buffer:
            yield from _element(counted.program.instructions[index])


def _element(instruction: Instruction) -> Iterator[DType]:
    """Yield the element type of a PTX memory instruction: ``ld.global.v4.f32`` moves f32."""
    kind = instruction.opcode.rpartition(".")[2]
    name = {"s": "i", "b": "u"}.get(kind[:1], kind[:1]) + kind[1:]
    if name in set(DType):
        yield DType(name)
