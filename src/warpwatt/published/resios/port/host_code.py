"""The host's side of a port: memory, copies, host loops, launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import Array, MemberKind, Object
from warpwatt.published.resios.c_loops.objects import packed, unpacked, used_members
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe
from warpwatt.published.resios.schedule.build import BuiltLoop

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.nest import Function
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
    objects = {one.name: one for one in function.objects}
    members = {m.name for one in objects.values() for m in one.members}
    listed = dict.fromkeys([*function.order, *objects, *arrays, *scalars])
    given = [n for n in listed if n in objects or (n not in members and n != function.returned)]
    given = [n for n in given if n not in arrays or not arrays[n].temporary]
    head = ", ".join(_given(objects.get(n) or arrays.get(n) or scalars[n]) for n in given)
    result = arrays[function.returned].type.spelling if function.returned else "void"
    lines = [*_definitions(function), f"{result} {safe(function.name)}_on_gpu({head})", "{"]
    for one in objects.values():
        lines += _member_variables(program, one)
    if function.returned:
        lines.append(f"{INDENT}{result} {function.returned}[1];")
    for name, value in program.hosted.items():
        lines.append(
            f"{INDENT}const {program.types[name].spelling} {safe(name)} = {value!r};  // at these sizes"
        )
    for array in function.arrays:
        size = program.bound.nbytes(array.name)
        lines.append(f"{INDENT}{array.type.spelling} *{_device(array.name)};")
        lines.append(f"{INDENT}cudaMalloc(&{_device(array.name)}, {size});")
    scratch = {s[0]: s for one in made.values() for kernel in one.chain for s in kernel.scratch}
    for name, kind, count in scratch.values():
        lines.append(f"{INDENT}{kind.spelling} *{_device(name)};")
        lines.append(f"{INDENT}cudaMalloc(&{_device(name)}, {count * kind.size});")
    for name in copied_in:
        pair = f"{_device(name)}, {safe(name)}"
        lines.append(f"{INDENT}cudaMemcpy({pair}, {program.bound.nbytes(name)}, cudaMemcpyHostToDevice);")
    for node in program.nodes:
        lines += _node(node, program, made, printer, 1)
    for name in copied_out:
        pair = f"{safe(name)}, {_device(name)}"
        lines.append(f"{INDENT}cudaMemcpy({pair}, {program.bound.nbytes(name)}, cudaMemcpyDeviceToHost);")
    freed = [*(array.name for array in function.arrays), *scratch]
    lines += [f"{INDENT}cudaFree({_device(name)});" for name in freed]
    for one in objects.values():
        lines += _put_back(program, one)
    if function.returned:
        lines.append(f"{INDENT}return {function.returned}[0];")
    return "\n".join(["#ifndef __CUDACC_RTC__", *lines, "}", "#endif", ""])


def _definitions(function: Function) -> list[str]:
    """Return what the structures of the caller need in front of the function."""
    if not function.objects:
        return []
    definitions = dict.fromkeys(one.definition for one in function.objects)
    return ["#include <cstdlib>", "#include <cstring>", *definitions]


def _place(one: Object) -> str:
    return f"(*{safe(one.name)})" if one.pointer and not one.rows else safe(one.name)


def _member_variables(program: Program, one: Object) -> Iterator[str]:
    """Yield variables of the host for the members of a structure; an array of them is packed by member."""
    bound, place = program.bound, _place(one)
    types = {a.name: a.type for a in bound.function.arrays} | {s.name: s.type for s in bound.function.scalars}
    for member in used_members(bound, one):
        kind, name = types[member.name].spelling, safe(member.name)
        match member.kind:
            case MemberKind.VALUE:
                yield f"{INDENT}const {kind} {name} = {place}{member.path};"
            case MemberKind.POINTER:
                yield f"{INDENT}{kind} *{name} = ({kind} *){place}{member.path};"
            case MemberKind.INSIDE:
                yield f"{INDENT}{kind} *{name} = ({kind} *)&{place}{member.path};"
            case MemberKind.ROWS:
                yield f"{INDENT}{kind} *{name} = ({kind} *)malloc({bound.nbytes(member.name)});"
    if one.rows:
        yield from packed(bound, one, place, "")


def _put_back(program: Program, one: Object) -> Iterator[str]:
    """Yield lines that put members back into an array of structures."""
    if one.rows:
        yield from unpacked(program.bound, one, _place(one), "")
        for member in used_members(program.bound, one):
            yield f"{INDENT}free({safe(member.name)});"


def _device(name: str) -> str:
    return f"device_{name}"


def _given(one: object) -> str:
    """Return a parameter of the host function."""
    if isinstance(one, Object):
        return f"{one.type} {'*' if one.pointer or one.rows else ''}{safe(one.name)}"
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
        for one in made[safe(node.function.name)].chain:
            yield from _launch(node, program, one, printer, margin)


def _launch(
    node: BuiltKernel, program: Program, made: Generated, printer: Printer, margin: str
) -> Iterator[str]:
    """Yield a block that launches a kernel where it has iterations."""
    block, tile = made.launch.block, (made.tile.x, made.tile.y, made.tile.z)
    arrays = {a.name for a in program.bound.function.arrays} | {name for name, _, _ in made.scratch}
    arguments = ", ".join(_device(n) if n in arrays else safe(n) for n in made.parameters)
    sides, tests = [], []
    for axis, (limits, side) in enumerate(zip(reversed(node.limits), tile, strict=False)):
        low, high = (printer.expression(e, 10) for e in limits.expressions({}))
        count, name = f"{high} - {low} + 1" if low != "0" else f"{high} + 1", f"count_{'xyz'[axis]}"
        yield f"{margin}const int {name}_{made.name} = {count};"
        tests.append(f"{name}_{made.name} > 0")
        sides.append(f"({name}_{made.name} + {side - 1}) / {side}" if side > 1 else f"{name}_{made.name}")
    yield f"{margin}if ({' && '.join(tests)})"
    if made.blocks:
        sides.insert(0, str(made.blocks))
    launch = f"<<<dim3({', '.join(sides)}), dim3({block.x}, {block.y}, {block.z})>>>"
    yield f"{margin}{INDENT}{made.name}{launch}({arguments});"
