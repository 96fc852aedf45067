"""Parameters and variables with sizes in bytes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from warpwatt.core.program import Parameter, Space
from warpwatt.core.program import Variable as CoreVariable
from warpwatt.isa.ptx.initialisers import initial_bytes
from warpwatt.isa.ptx.lexer import NAME
from warpwatt.isa.ptx.syntax import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from warpwatt.isa.ptx.syntax import Module

_WIDTH = re.compile(r"\D+(\d+)(?:x(\d+))?", re.ASCII)
_NAME = re.compile(NAME, re.ASCII)
_SPACES = {space.value: space for space in Space}
_OPAQUE_BYTES = 8
"""Size of a texture, sampler or surface reference: a 64-bit handle (PTX ISA 5.3)."""


def element_bytes(variable: Variable) -> int:
    """Return the size of one element, vector elements together.

    >>> element_bytes(Variable("v", "global", "f32", vector=4)), element_bytes(Variable("p", "reg", "pred"))
    (16, 1)
    """
    if variable.type.endswith("ref"):
        return _OPAQUE_BYTES
    match = _WIDTH.match(variable.type)
    if match is None or variable.type == "pred":
        return 1
    return max(1, int(match[1]) * int(match[2] or 1) // 8) * variable.vector


def size(variable: Variable) -> int:
    """Return the size in bytes; 0 for an array without extent and without initialiser.

    >>> size(Variable("x", "shared", "f32", dimensions=(4, 8)))
    128
    >>> size(Variable("x", "const", "u16", dimensions=(None,), initialiser="{1, 2, 3}"))
    6
    """
    extents = list(variable.dimensions)
    if extents and extents[0] is None and variable.initialiser:
        inner = math.prod(e or 1 for e in extents[1:])
        extents[0] = -(-(variable.initialiser.count(",") + 1) // inner)
    return element_bytes(variable) * math.prod(extent or 0 for extent in extents)


def parameter(variable: Variable) -> Parameter:
    """Return a kernel parameter; ``pointer`` says whether the program declares it with ``.ptr``."""
    natural = element_bytes(variable)
    return Parameter(
        name=variable.name,
        type=variable.type,
        size=size(variable),
        align=variable.align or natural,
        pointer=variable.pointer is not None,
    )


def core_variable(variable: Variable, name: str | None = None) -> CoreVariable:
    """Return a variable as a program holds it, under another name if one is given."""
    return CoreVariable(
        name=name or variable.name,
        space=_SPACES.get(variable.space.partition("[")[0], _OTHER.get(variable.space, Space.GLOBAL)),
        size=size(variable),
        align=variable.align or element_bytes(variable),
        element=variable.type,
        external=".extern" in variable.linkage,
        initial=initial_bytes(variable, element_bytes(variable)),
    )


_OTHER = {"tex": Space.TEXTURE, "surf": Space.SURFACE}


def module_variables(module: Module) -> dict[str, Variable]:
    """Return the variables at the level of the module by name; a definition wins over a declaration."""
    found: dict[str, Variable] = {}
    for item in module.items:
        if isinstance(item, Variable) and (item.name not in found or ".extern" not in item.linkage):
            found[item.name] = item
    return found


def reachable(names: Iterable[str], variables: Mapping[str, Variable]) -> list[Variable]:
    """Return the variables among ``names`` and those whose address their initialisers hold, as mentioned."""
    waiting = [name for name in names if name in variables][::-1]
    found: dict[str, Variable] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = variable = variables[name]
            waiting += [n for n in _NAME.findall(variable.initialiser) if n in variables]
    return list(found.values())
