"""The host's side of a port: memory, copies, host loops, launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import Array
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe
from warpwatt.published.resios.schedule.build import BuiltLoop

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.schedule.build import BuiltKernel, BuiltNode
    from warpwatt.published.resios.schedule.transform import Program


def host_function(
    program: Program, made: Mapping[str, Generated], copied_in: Sequence[str], copied_out: Sequence[str]
) -> str:
    """Return a C++ function that runs a port: its arrays are the host's, everything else happens inside.

    ``made`` are the kernels by name; arrays go to the device and back as the two lists say.
    """
    function, printer = program.bound.function, Printer(program.bound.shapes)
    arrays = {a.name: a for a in function.arrays}
    scalars = {s.name: s for s in function.scalars}
    listed = [*function.order, *(n for n in (*arrays, *scalars) if n not in function.order)]
    given = [n for n in listed if n in scalars or not arrays[n].temporary]
    head = ", ".join(_parameter(arrays.get(n) or scalars[n]) for n in given)
    lines = [f"void {safe(function.name)}_on_gpu({head})", "{"]
    for name, value in program.hosted.items():
        lines.append(
            f"{INDENT}const {program.types[name].spelling} {safe(name)} = {value!r};  // at these sizes"
        )
    for array in function.arrays:
        size = program.bound.nbytes(array.name)
        lines.append(f"{INDENT}{array.type.spelling} *{_device(array.name)};")
        lines.append(f"{INDENT}cudaMalloc(&{_device(array.name)}, {size});")
    for name in copied_in:
        pair = f"{_device(name)}, {safe(name)}"
        lines.append(f"{INDENT}cudaMemcpy({pair}, {program.bound.nbytes(name)}, cudaMemcpyHostToDevice);")
    for node in program.nodes:
        lines += _node(node, program, made, printer, 1)
    for name in copied_out:
        pair = f"{safe(name)}, {_device(name)}"
        lines.append(f"{INDENT}cudaMemcpy({pair}, {program.bound.nbytes(name)}, cudaMemcpyDeviceToHost);")
    lines += [f"{INDENT}cudaFree({_device(array.name)});" for array in function.arrays]
    return "\n".join(["#ifndef __CUDACC_RTC__", *lines, "}", "#endif", ""])


def _device(name: str) -> str:
    return f"device_{name}"


def _parameter(one: object) -> str:
    pointer = "*" if isinstance(one, Array) else ""
    return f"{one.type.spelling} {pointer}{safe(one.name)}"  # type: ignore[attr-defined]


def _node(
    node: BuiltNode, program: Program, made: Mapping[str, Generated], printer: Printer, depth: int
) -> Iterator[str]:
    margin = INDENT * depth
    if isinstance(node, BuiltLoop):
        low, high = (printer.expression(e, 9) for e in node.limits.expressions({}))
        yield f"{margin}for (int {node.name} = {low}; {node.name} <= {high}; {node.name}++) {{"
        for inner in node.body:
            yield from _node(inner, program, made, printer, depth + 1)
        yield f"{margin}}}"
    elif safe(node.function.name) in made:
        yield from _launch(node, program, made[safe(node.function.name)], printer, margin)


def _launch(
    node: BuiltKernel, program: Program, made: Generated, printer: Printer, margin: str
) -> Iterator[str]:
    """Yield a block that launches a kernel where it has iterations."""
    block, tile = made.launch.block, (made.tile.x, made.tile.y, made.tile.z)
    arrays = {a.name for a in program.bound.function.arrays}
    arguments = ", ".join(_device(n) if n in arrays else safe(n) for n in made.parameters)
    sides, tests = [], []
    for axis, (limits, side) in enumerate(zip(reversed(node.limits), tile, strict=False)):
        low, high = (printer.expression(e, 10) for e in limits.expressions({}))
        count, name = f"{high} - {low} + 1" if low != "0" else f"{high} + 1", f"count_{'xyz'[axis]}"
        yield f"{margin}const int {name}_{made.name} = {count};"
        tests.append(f"{name}_{made.name} > 0")
        sides.append(f"({name}_{made.name} + {side - 1}) / {side}" if side > 1 else f"{name}_{made.name}")
    yield f"{margin}if ({' && '.join(tests)})"
    launch = f"<<<dim3({', '.join(sides)}), dim3({block.x}, {block.y}, {block.z})>>>"
    yield f"{margin}{INDENT}{made.name}{launch}({arguments});"
