"""Parameters and variables with sizes in bytes, and what they hold before the program starts."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator, Mapping

from warpwatt.core.program import Parameter, Space
from warpwatt.core.program import Variable as CoreVariable
from warpwatt.isa.ptx.constants import Number, evaluate
from warpwatt.isa.ptx.lexer import NAME
from warpwatt.isa.ptx.syntax import Module, Variable

_WIDTH = re.compile(r"\D+(\d+)(?:x(\d+))?", re.ASCII)
_NAME = re.compile(NAME, re.ASCII)
_SPACES = {space.value: space for space in Space} | {"tex": Space.TEXTURE, "surf": Space.SURFACE}
_FLOAT = {"f16": "<e", "f32": "<f", "f64": "<d"}
_PART = re.compile(r"[{},]")
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
        space=_SPACES.get(variable.space.partition("[")[0], Space.GLOBAL),
        size=size(variable),
        align=variable.align or element_bytes(variable),
        element=variable.type,
        external=".extern" in variable.linkage,
        initial=initial_bytes(variable, element_bytes(variable)),
    )


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


def initial_bytes(variable: Variable, element: int) -> bytes:
    """Return the bytes of a variable's initialiser (PTX ISA 5.4.4), little-endian.

    ``element`` is the size of one vector.

    An element that is no number (an address) is zero. Rows of nested braces that are shorter than their
    array dimension are filled with zeros, as PTX does.

    >>> table = Variable("x", "const", "u16", dimensions=(2, 2), initialiser="{{1}, {2, 3}}")
    >>> initial_bytes(table, 2).hex(" ", 2)
    '0100 0000 0200 0300'
    """
    text = variable.initialiser
    if not text or variable.type.endswith("ref"):
        return b""
    scalar = element // variable.vector
    strides = _strides(variable, element)
    found = bytearray()
    for depth, item in _items(text):
        if item is None:  # a row ends: what comes next begins at the next multiple of its size
            stride = strides[depth] if depth < len(strides) else scalar
            found += bytes(-len(found) % stride)
        else:
            found += _encode(item, variable.type, scalar)
    return bytes(found)


def _strides(variable: Variable, element: int) -> list[int]:
    """Return the size of what a brace at each depth holds; depth 0 is the whole initialiser."""
    sizes = [element]
    for extent in reversed(variable.dimensions[1:]):
        sizes.append(sizes[-1] * max(1, min(extent or 1, 1 << 20)))
    return [1, *reversed(sizes)]


def _items(text: str) -> Iterator[tuple[int, str | None]]:
    """Yield the elements with the number of braces around them; None where a brace closes."""
    depth = start = 0
    for match in _PART.finditer(text):
        item = text[start : match.start()].strip()
        if item:
            yield depth, item
        start = match.end()
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            yield depth, None
    if text[start:].strip():
        yield depth, text[start:].strip()


def _encode(item: str, type_: str, size: int) -> bytes:
    """Return one number in memory; zeros for what is none."""
    try:
        value = int(item) if item.isascii() and item.isdigit() and len(item) < 20 else evaluate(item)
        return _pack(value, item, type_, size)
    except (ValueError, OverflowError, struct.error):
        return bytes(size)


def _pack(value: Number, item: str, type_: str, size: int) -> bytes:
    """Return a number as its type stores it."""
    if item[:2] in {"0f", "0F", "0d", "0D"} and len(item) == 2 + 2 * size:
        return bytes.fromhex(item[2:])[::-1]  # the very bits, NaN payload included
    if type_ in _FLOAT:
        return struct.pack(_FLOAT[type_], value)
    if isinstance(value, float):
        return struct.pack("<f" if size == 4 else "<d", value)
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
