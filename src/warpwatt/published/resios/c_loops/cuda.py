"""The CUDA kernel of a mapped loop nest: one thread per iteration, the rest of the source as it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Table
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Argument, Buffer, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.published.resios.c_loops.dependence import written_scalars
from warpwatt.published.resios.c_loops.mapping import grid_for
from warpwatt.published.resios.c_loops.nest import Array, Binary, Declare, Loop, Number, walk
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.bound import BoundFunction, BoundLoop
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.c_loops.nest import Expression
    from warpwatt.published.resios.c_loops.nest import Scalar as ScalarParameter
    from warpwatt.published.resios.c_loops.types import CType

_LARGE = 2**31


@dataclass(frozen=True, slots=True)
class Generated:
    """A kernel in CUDA C++ and how to launch it; ``parameters`` in order, by their names in the C source.

    ``tile`` is how many iterations of the mapped loops one block covers, the innermost along x.
    """

    name: str
    text: str
    launch: Launch
    parameters: tuple[str, ...]
    tile: Dim3
    base: str
    """The name of the function of loops that it computes."""
    blocks: int = 0
    """Blocks along x that share every result, whose coordinates then lie along y and z; 0: there are none."""
    scratch: tuple[tuple[str, CType, int], ...] = ()
    """Device memory of its own: parameter, type, elements."""
    fixed: bool = False
    """Whether it holds for the sizes alone for which it was written."""
    then: tuple[Generated, ...] = ()
    """Kernels that are launched right after it and end what it began."""

    @property
    def chain(self) -> tuple[Generated, ...]:
        """It and what is launched after it."""
        return (replace(self, then=()), *self.then)

    def renamed(self, change: Callable[[str], str]) -> Generated:
        """Return it, and what is launched after it, under other names."""
        name = change(self.name)
        text = self.text.replace(f" {self.name}(\n", f" {name}(\n", 1)
        return replace(self, name=name, text=text, then=tuple(one.renamed(change) for one in self.then))


def generate(bound: BoundFunction, mapping: Mapping, block: Dim3) -> Generated:
    """Return the kernel of a mapped nest, one thread per iteration of the mapped loops."""
    writer = KernelWriter(bound, mapping)
    body = list(writer.printer.statements(mapping.body, 1))
    return writer.kernel([*writer.positions(), *body], block, block)


@dataclass(slots=True)
class KernelWriter:
    """Writes a kernel around lines that others make of its body."""

    bound: BoundFunction
    mapping: Mapping
    suffix: str = ""
    """Of the kernel's name, where several kernels compute what one function of loops does."""
    printer: Printer = field(init=False)
    scratch: list[tuple[str, CType, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        arrays = self.bound.function.arrays
        self.printer = Printer(self.bound.shapes, frozenset(a.name for a in arrays if _large(self.bound, a)))

    @property
    def name(self) -> str:
        """The kernel's name: the function's, with its place among several nests."""
        function = self.bound.function
        if len(function.nests) == 1:
            return safe(function.name)
        return safe(f"{function.name}_{function.nests.index(self.mapping.nest.loop) + 1}")

    def fresh(self, name: str) -> str:
        """Return a name that nothing in the kernel has yet."""
        function = self.bound.function
        taken = {a.name for a in function.arrays} | {s.name for s in function.scalars}
        taken |= {s.variable.name for s in walk(function.body) if isinstance(s, Loop)}
        taken |= {s.name for s in walk(function.body) if isinstance(s, Declare)}
        while name in taken:
            name += "_"
        return name

    def positions(self, *places: str) -> Iterator[str]:
        """Yield the lines that make the mapped loops' variables and end threads outside.

        ``places`` say, innermost loop first, which iteration a thread has; without them, its own position.
        """
        axes = "xyz"[: len(self.mapping.loops)]
        usual = [f"blockIdx.{a} * blockDim.{a} + threadIdx.{a}" for a in axes]
        chosen = places or tuple(usual)
        for loop, place in zip(self.mapping.loops, reversed(chosen), strict=True):
            yield self.position(loop, place)
            yield f"{INDENT}if ({self.outside(loop)}) return;"

    def position(self, loop: BoundLoop, place: str) -> str:
        """Return the line that makes a mapped loop's variable."""
        it, name = loop.loop, safe(loop.loop.variable.name)
        kind, start = it.variable.type.spelling, self.printer.expression(it.start, 11)
        position = f"({kind})({place})"
        scaled = position if it.step == 1 else f"{it.step} * {position}"
        return f"{INDENT}const {kind} {name} = {scaled if start == '0' else f'{start} + {scaled}'};"

    def outside(self, loop: BoundLoop) -> str:
        """Return the condition under which a thread has no iteration of a mapped loop."""
        it = loop.loop
        stop: Expression = it.stop
        opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[it.relation]
        if opposite == ">" and isinstance(stop, Binary) and stop.operator == "-" and _is_one(stop.right):
            opposite, stop = ">=", stop.left
        return f"{safe(it.variable.name)} {opposite} {self.printer.expression(stop, 10)}"

    def kernel(self, lines: Sequence[str], block: Dim3, tile: Dim3, blocks: int = 0) -> Generated:
        """Return the kernel with these lines as its body, after declarations of private scalars."""
        before = list(_before(self.printer, self.bound, self.mapping))
        parameters = [a for a in _in_order(self.bound) if a.name in self.printer.used]
        written = self.bound.written(self.mapping.nest)
        own = [f"{kind.spelling} *__restrict__ {name}" for name, kind, _ in self.scratch]
        head = ",\n".join(INDENT + one for one in [*(_parameter(p, written) for p in parameters), *own])
        name = f"{self.name}{self.suffix}"
        text = [f'extern "C" __global__ void {name}(\n{head})', "{", *before, *lines, "}"]
        arguments = _arguments(self.bound, parameters)
        for given, kind, count in self.scratch:
            arguments[given] = Buffer(kind.dtype, (count,), Fill.RANDOM, assumed_fill=True)
        extents = tuple(loop.most for loop in self.mapping.loops)
        grid = grid_for(extents, tile, blocks)
        launch = Launch(grid, block, arguments=arguments)
        names = (*(p.name for p in parameters), *(name for name, _, _ in self.scratch))
        return Generated(
            name, "\n".join(text) + "\n", launch, names, tile, self.name, blocks, tuple(self.scratch)
        )


def _is_one(expression: Expression) -> bool:
    return isinstance(expression, Number) and expression.value == 1


def source(bound: BoundFunction, generated: tuple[Generated, ...], comments: Table[str, str]) -> str:
    """Return a CUDA file with the kernels and, as comments, what ``warpwatt predict`` needs to know.

    ``comments`` are to stand in front of what computes a function of loops, by its name.
    """
    function = bound.function
    parts = [f"// Data-parallel loops of {function.name} ({function.file}).\n\n"]
    for first in generated:
        parts.append(comments.get(first.base, ""))
        for one in first.chain:
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
    first = dict.fromkeys(bound.function.parameters)
    return [known[name] for name in (*first, *(n for n in known if n not in first))]


def _parameter(parameter: Array | ScalarParameter, written: set[str]) -> str:
    if not isinstance(parameter, Array):
        return f"{parameter.type.spelling} {safe(parameter.name)}"
    const = "" if parameter.name in written else "const "
    return f"{const}{parameter.type.spelling} *__restrict__ {safe(parameter.name)}"


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
