"""A schedule as sequential C: what its kernels compute if their threads run backwards, one after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warpwatt.frontend.compiled import Source
from warpwatt.frontend.options import CompileOptions
from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.decide import decided
from warpwatt.published.resios.c_loops.printer import INDENT, Printer, safe
from warpwatt.published.resios.c_loops.read import read_function
from warpwatt.published.resios.c_loops.sequential import Program as Compiled
from warpwatt.published.resios.port.check import array_type, contents
from warpwatt.published.resios.port.host_code import host_scalar
from warpwatt.published.resios.port.steering import free
from warpwatt.published.resios.schedule.build import BuiltLoop
from warpwatt.published.resios.schedule.transform import transformed

EXACT = ("-ffp-contract=off",)
MACROS = """#include <math.h>
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
"""


def replay(text, values, options=None, name="", shapes=None, *, reorder=False, made_at=None):
    """Return arrays by name after the C and after its schedule, from the same random contents.

    ``made_at``: sizes for which the schedule is made, if it then holds for any; else there are no arrays.
    """
    source = text if isinstance(text, Source) else Source("loops.c", text.encode())
    options = options or CompileOptions()
    whole = read_function(source, name, options)
    function = decided(whole, values)
    original = bound(function, values, shapes)
    before = {n: a.tobytes() for n, a in contents(original).items()}
    wanted = Compiled(source, original, options, EXACT).computed(before)
    program = transformed(
        function, made_at or values, shapes, reorder=reorder, free=free(whole) if made_at else ()
    )
    if made_at and program.symbolic is None:
        return {}, program
    again = Source("schedule.c", sequential(program).encode())
    plain = replace(
        function, objects=(), order=parameters(function), returned="",
        arrays=tuple(replace(a, parameter=a.name in parameters(function)) for a in function.arrays),
        scalars=tuple(replace(s, parameter=s.name in parameters(function)) for s in function.scalars),
    )  # fmt: skip
    found = Compiled(again, replace(original, function=plain), CompileOptions(), EXACT).computed(before)
    kinds = {a.name: array_type(a.type) for a in original.function.arrays if a.name in wanted}
    return {n: (np.frombuffer(wanted[n], k), np.frombuffer(found[n], k)) for n, k in kinds.items()}, program


def parameters(function):
    """Return the parameters of the replayed function: members of structures and the result are arrays."""
    members = [m.name for o in function.objects for m in o.members]
    known = [a.name for a in function.arrays] + [s.name for s in function.scalars]
    extra = [n for n in (*members, function.returned) if n in known]
    return tuple(dict.fromkeys([*function.parameters, *extra]))


def sequential(program):
    """Return a C file with the function of a program, its kernels as loops that run backwards."""
    function = program.bound.function
    printer = Printer(program.bound.shapes)
    known = {a.name: a for a in function.arrays} | {s.name: s for s in function.scalars}
    head = ", ".join(
        f"{known[n].type.spelling} {'*' if n in program.bound.shapes else ''}{safe(n)}"
        for n in parameters(function)
    )
    lines = [MACROS]
    for array in function.arrays:
        if array.name not in parameters(function):
            count = program.bound.nbytes(array.name) // array.type.size
            lines.append(f"{array.type.spelling} {safe(array.name)}[{count}];")
    lines += [
        f"{s.type.spelling} {safe(s.name)};" for s in function.scalars if s.name not in parameters(function)
    ]
    lines.append(f"void {function.name}({head}) {{")
    for statement in function.body:
        if host_scalar(statement) in program.hosted:
            lines += printer.statements((statement,), 1)
    for node in program.nodes:
        lines += _node(node, printer, 1)
    return "\n".join([*lines, "}", ""])


def _node(node, printer, depth):
    margin = INDENT * depth
    if isinstance(node, BuiltLoop):
        low, high = (printer.expression(e) for e in node.limits.expressions({}))
        yield f"{margin}for (int {node.name} = {low}; {node.name} <= {high}; {node.name}++) {{"
        for inner in node.body:
            yield from _node(inner, printer, depth + 1)
        yield f"{margin}}}"
        return
    yield f"{margin}{{"
    yield from printer.statements(node.function.prologue, depth + 1)
    body = node.function.nests
    for n in range(node.dimensions):
        (loop,) = body
        name, low, high = loop.variable.name, printer.expression(loop.start), printer.expression(loop.stop)
        yield f"{margin}{INDENT * (n + 1)}for (int {name} = {high}; {name} >= {low}; {name}--) {{"
        body = loop.body
    yield from printer.statements(body, depth + node.dimensions + 1)
    yield f"{margin}{'}' * node.dimensions} }}"
