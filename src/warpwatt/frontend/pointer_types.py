"""Whether buffers hold what a kernel's pointers point to, as far as its C++ signature says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Buffer
from warpwatt.frontend.signatures import signature

if TYPE_CHECKING:
    from warpwatt.core.launch import Launch
    from warpwatt.core.program import Kernel

_POINTED = {
    "float": "f32", "double": "f64", "__half": "f16", "__nv_bfloat16": "bf16", "short": "i16",
    "unsigned short": "i16",
    "int": "i32", "unsigned int": "i32", "long": "i64", "unsigned long": "i64", "long long": "i64",
    "unsigned long long": "i64",
}  # fmt: skip
"""C++ types and what a buffer of them holds, signs left out. Pointers to anything else take any buffer."""


def mismatches(kernel: Kernel, launch: Launch) -> tuple[str, ...]:
    """Return a remark for each buffer whose elements are not what its parameter points to; bytes fit all."""
    parameters, types = kernel.program().parameters, signature(kernel.demangled)
    if len(parameters) != len(types):
        return ()
    found = []
    for index, (parameter, type_) in enumerate(zip(parameters, types, strict=True)):
        name = parameter.source_name or str(index)
        buffer = launch.arguments.get(name, launch.arguments.get(str(index)))
        wanted = _pointed(type_)
        if isinstance(buffer, Buffer) and wanted and not fits(str(buffer.dtype), wanted):
            found.append(f"{name} points to {_plain(type_)} and was given {buffer.dtype}[...]")
    return tuple(found)


def fits(given: str, wanted: str) -> bool:
    """Return whether elements are of a type but for their sign; bytes are of every type.

    >>> fits("u32", "i32"), fits("u8", "f64"), fits("f64", "f32"), fits("i32", "f32")
    (True, True, False, False)
    """
    return given in ("u8", "i8") or given.replace("u", "i") == wanted


def _pointed(type_: str) -> str | None:
    return (
        _POINTED.get(_plain(type_)) if type_.rstrip().endswith(("*", "&")) and type_.count("*") == 1 else None
    )


def _plain(type_: str) -> str:
    """Return what a type points to.

    >>> _plain("float const*")
    'float'
    """
    return " ".join(re.sub(r"\b(const|volatile|__restrict)\b|[*&]", " ", type_).split())
