"""Types of a kernel's parameters from its C++ name, for machine code, which knows only their sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.program import Parameter, Program

_PTX_TYPES = {
    "char": "s8", "signed char": "s8", "unsigned char": "u8", "bool": "u8", "short": "s16",
    "unsigned short": "u16", "int": "s32", "unsigned int": "u32", "long": "s64", "unsigned long": "u64",
    "long long": "s64", "unsigned long long": "u64", "float": "f32", "double": "f64", "__half": "f16",
    "__nv_bfloat16": "bf16",
}  # fmt: skip


def typed(program: Program, demangled: str) -> Program:
    """Return a program whose parameters carry the types of the C++ signature, where sizes agree.

    An ``extern "C"`` kernel has no signature in its name; its parameters stay untyped (``b64``).
    """
    types = signature(demangled)
    if len(types) != len(program.parameters):
        return program
    pairs = zip(program.parameters, types, strict=True)
    return replace(program, parameters=tuple(_typed(parameter, kind) for parameter, kind in pairs))


def signature(demangled: str) -> tuple[str, ...]:
    """Return the parameter types of a demangled function name.

    >>> signature("void saxpy<float, 2>(int, std::pair<int, int>, float const*)")
    ('int', 'std::pair<int, int>', 'float const*')
    >>> signature("saxpy")
    ()
    """
    if not demangled.endswith(")"):
        return ()
    parts, depth, end = [], 0, len(demangled) - 1
    for at in range(end - 1, -1, -1):
        char = demangled[at]
        depth += (char in ")>]}") - (char in "(<[{")
        if depth < 0 or (char == "," and depth == 0):
            parts.append(demangled[at + 1 : end].strip())
            end = at
        if depth < 0:
            break
    return tuple(part for part in reversed(parts) if part)


def _typed(parameter: Parameter, kind: str) -> Parameter:
    """Return a parameter with its PTX type; a size that does not fit the type leaves it as it is."""
    if kind.endswith(("*", "* __restrict")) and parameter.size == 8:
        return replace(parameter, type="u64", pointer=True)
    found = _PTX_TYPES.get(kind, "")
    fits = found and int(found.lstrip("bsuf")) == 8 * parameter.size
    return replace(parameter, type=found) if fits else parameter
