"""The host's side of a port: memory, copies, host loops, launches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from warpwatt.published.resios.c_loops.nest import Array, Assign, Declare, MemberKind, Name, Object
from warpwatt.published.resios.c_loops.objects import packed, unpacked, used_members
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe
from warpwatt.published.resios.schedule.build import BuiltLoop

if TYPE_CHECKING:
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.nest import Function, Scalar, Statement
    from warpwatt.published.resios.schedule.build import BuiltKernel, BuiltNode
    from warpwatt.published.resios.schedule.transform import Program


def host_function(
    program: Program,
    made: Mapping[str, Generated],
    copied: tuple[Collection[str], Collection[str]],
    sizes: tuple[Sequence[str], Mapping[str, str]] = ((), {}),
) -> str:
    """Return a C++ function that runs a port: its arrays are the host's, everything else happens inside.

    It returns the status of CUDA. ``made`` are the kernels by name; arrays go to the device and back as the
    two lists of ``copied`` say. ``sizes`` are the conditions it needs, and the elements of arrays as C.
    """
    function, printer = program.bound.function, Printer(program.bound.shapes)
    known = _known(function)
    head = ", ".join(_given(known[n]) for n in given(function))
    if function.returned:
        head = ", ".join([*([head] if head else []), _given(known[function.returned])])
    lines = [*_definitions(function), f"cudaError_t {entry(function)}({head})", "{"]
    for one in function.objects:
        lines += _member_variables(program, one)
    needed, elements = sizes
    lines += _refusal(function, needed)
    lines += [
        line
        for statement in function.body
        if host_scalar(statement) in program.hosted
        for line in printer.statements((statement,), 1)
    ]
    blocks = {a.name: (a.type, str(program.bound.nbytes(a.name))) for a in function.arrays}
    for kernel in (kernel for first in made.values() for kernel in first.chain):
        blocks |= {name: (kind, str(count * kind.size)) for name, kind, count in kernel.scratch}
    for name, count in elements.items():
        lines.append(f"{INDENT}const size_t bytes_{name} = sizeof({blocks[name][0].spelling}) * ({count});")
        blocks[name] = (blocks[name][0], f"bytes_{name}")
    for name, (kind, size) in blocks.items():
        lines.append(f"{INDENT}{kind.spelling} *{_device(name)} = nullptr;")
        lines.append(f"{INDENT}cudaMalloc(&{_device(name)}, {size});")
    copied_in, copied_out = copied
    for name in copied_in:
        pair = f"{_device(name)}, {safe(name)}"
        lines.append(f"{INDENT}cudaMemcpy({pair}, {blocks[name][1]}, cudaMemcpyHostToDevice);")
    for node in program.nodes:
        lines += _node(node, program, made, printer, 1)
    for name in copied_out:
        pair = f"{safe(name)}, {_device(name)}"
        lines.append(f"{INDENT}cudaMemcpy({pair}, {blocks[name][1]}, cudaMemcpyDeviceToHost);")
    lines.append(f"{INDENT}const cudaError_t status = cudaGetLastError();")
    lines += [f"{INDENT}cudaFree({_device(name)});" for name in blocks]
    for one in function.objects:
        lines += _put_back(program, one)
    ending = [f"{INDENT}return status;", "}", "#endif", ""]
    return "\n".join(["#ifndef __CUDACC_RTC__", "#include <cstdio>", *lines, *ending])


def entry(function: Function) -> str:
    """Return the name of the host function of a port."""
    return f"{safe(function.name)}_on_gpu"


def given(function: Function) -> tuple[str, ...]:
    """Return what the host function is given, in order: parameters, then globals; the result comes last."""
    known = _known(function)
    members = {m.name for one in function.objects for m in one.members} - {o.name for o in function.objects}
    left_out = members | {a.name for a in function.arrays if a.temporary} | {function.returned}
    return tuple(n for n in dict.fromkeys([*function.order, *known]) if n in known and n not in left_out)


def _known(function: Function) -> dict[str, Object | Array | Scalar]:
    every: tuple[Object | Array | Scalar, ...] = (*function.objects, *function.arrays, *function.scalars)
    return {one.name: one for one in every}


def _refusal(function: Function, needed: Sequence[str]) -> Iterator[str]:
    """Yield the lines that refuse sizes for which the kernels do not hold."""
    if needed:
        text = f"{entry(function)} needs {' and '.join(needed)}: port the C again for other values"
        yield f"{INDENT}if (!({' && '.join(needed)})) {{"
        yield f'{INDENT * 2}fputs("{text}\\n", stderr);'
        yield f"{INDENT * 2}return cudaErrorInvalidValue;"
        yield f"{INDENT}}}"


def host_scalar(statement: Statement) -> str:
    """Return the scalar that a statement declares or sets, empty for other statements."""
    match statement:
        case Declare(name=name) | Assign(target=Name(name=name)):
            return name
    return ""


def _definitions(function: Function) -> list[str]:
    """Return what the structures of the caller need in front of the function."""
    if not function.objects:
        return []
    definitions = dict.fromkeys(text for one in function.objects for text in one.definition)
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
                yield f"{INDENT}{kind} {name} = {place}{member.path};"
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
