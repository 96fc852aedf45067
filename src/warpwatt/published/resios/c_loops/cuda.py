"""The CUDA kernel of a mapped loop nest: one thread per iteration, the rest of the source as it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Argument, Buffer, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.published.resios.c_loops.dependence import written_scalars
from warpwatt.published.resios.c_loops.nest import Array, Declare, walk
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction, BoundLoop
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.nest import Scalar as ScalarParameter

_LARGE = 2**31


@dataclass(frozen=True, slots=True)
class Generated:
    """A kernel in CUDA C++ and how to launch it; ``parameters`` in order, by their names in the C source."""

    name: str
    text: str
    launch: Launch
    parameters: tuple[str, ...]


def generate(bound: BoundFunction, mapping: Mapping, block: Dim3) -> Generated:
    """Return the kernel of a mapped nest, named after the function (and its place among several nests)."""
    function = bound.function
    number = function.nests.index(mapping.nest.loop)
    name = safe(function.name if len(function.nests) == 1 else f"{function.name}_{number + 1}")
    printer = Printer(bound.shapes, frozenset(a.name for a in function.arrays if _large(bound, a)))
    body = list(printer.statements(mapping.body, 1))
    threads = [line for loop in mapping.loops for line in _thread(printer, loop, mapping)]
    before = list(_before(printer, bound, mapping))
    parameters = [a for a in _in_order(bound) if a.name in printer.used]
    written = bound.written(mapping.nest)
    head = ",\n".join(INDENT + _parameter(p, written) for p in parameters)
    lines = [f'extern "C" __global__ void {name}(\n{head})', "{", *before, *threads, *body, "}"]
    launch = Launch(mapping.grid(block), block, arguments=_arguments(bound, parameters))
    return Generated(name, "\n".join(lines) + "\n", launch, tuple(p.name for p in parameters))


def source(bound: BoundFunction, generated: tuple[Generated, ...]) -> str:
    """Return a CUDA file with the kernels and, as comments, what ``warpwatt predict`` needs to know."""
    function = bound.function
    parts = [f"// Data-parallel loops of {function.name} ({function.file}), one thread per iteration.\n"]
    for one in generated:
        options = f"--kernel {one.name} --grid {one.launch.grid} --block {one.launch.block}"
        parts += [f"// warpwatt: {options}{_argument_options(one)}\n", one.text, "\n"]
    return "".join(parts).rstrip("\n") + "\n"


def _argument_options(one: Generated) -> str:
    words = []
    for name, argument in one.launch.arguments.items():
        if isinstance(argument, Buffer):
            words.append(f"{name}={argument.dtype}[{argument.elements}]")
        else:
            words.append(f"{name}={argument.value}")
    return "".join(f" --arg {word}" for word in words)


def _large(bound: BoundFunction, array: Array) -> bool:
    return bound.nbytes(array.name) // array.type.size >= _LARGE


def _in_order(bound: BoundFunction) -> list[Array | ScalarParameter]:
    """Return what a kernel may take: the function's parameters in order, then globals."""
    every: list[Array | ScalarParameter] = [*bound.function.arrays, *bound.function.scalars]
    known = {p.name: p for p in every}
    first = [known[name] for name in bound.function.order]
    return first + [p for p in known.values() if not p.parameter]


def _parameter(parameter: Array | ScalarParameter, written: set[str]) -> str:
    if not isinstance(parameter, Array):
        return f"{parameter.type.spelling} {safe(parameter.name)}"
    const = "" if parameter.name in written else "const "
    return f"{const}{parameter.type.spelling} *__restrict__ {safe(parameter.name)}"


def _thread(printer: Printer, loop: BoundLoop, mapping: Mapping) -> Iterator[str]:
    """Yield the lines that make a loop variable of a thread's position, and end threads outside."""
    axis = "xyz"[len(mapping.loops) - 1 - mapping.loops.index(loop)]
    it, name = loop.loop, safe(loop.loop.variable.name)
    kind, start = it.variable.type.spelling, printer.expression(it.start, 11)
    position = f"({kind})(blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis})"
    scaled = position if it.step == 1 else f"{it.step} * {position}"
    value = scaled if start == "0" else f"{start} + {scaled}"
    yield f"{INDENT}const {kind} {name} = {value};"
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[it.relation]
    yield f"{INDENT}if ({name} {opposite} {printer.expression(it.stop, 10)}) return;"


def _before(printer: Printer, bound: BoundFunction, mapping: Mapping) -> Iterator[str]:
    """Yield declarations of scalars that stand outside the mapped loops and are used inside."""
    written = written_scalars(mapping.body)
    own = {s.name for s in walk(mapping.body) if isinstance(s, Declare)}
    mine = {loop.loop.variable.name for loop in mapping.loops}
    lines: list[str] = []
    for declared in reversed(bound.function.prologue):
        if declared.name in mine or declared.name in own or declared.name not in printer.used:
            continue
        value = declared.value
        if value is None or declared.name in written:
            lines.append(f"{INDENT}{declared.type.spelling} {safe(declared.name)};")
        else:
            start = printer.expression(value)
            lines.append(f"{INDENT}const {declared.type.spelling} {safe(declared.name)} = {start};")
    yield from reversed(lines)


def _arguments(bound: BoundFunction, parameters: list[Array | ScalarParameter]) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    for parameter in parameters:
        name = safe(parameter.name)
        if parameter.name in bound.shapes:
            count = bound.nbytes(parameter.name) // parameter.type.size
            found[name] = Buffer(parameter.type.dtype, (count,), Fill.RANDOM, assumed_fill=True)
        else:
            found[name] = Scalar(bound.values[parameter.name])
    return found
