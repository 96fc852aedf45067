"""Kernels and launches as a form wants them: names, types, what a good first value is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warpwatt.core.arguments import DType
from warpwatt.core.program import Kernel, Parameter
from warpwatt.frontend.select import plain_name
from warpwatt.frontend.signatures import signature

if TYPE_CHECKING:
    from warpwatt.request.launch_text import LaunchText

_ELEMENTS = {
    "float": DType.F32, "double": DType.F64, "__half": DType.F16, "__nv_bfloat16": DType.BF16,
    "int": DType.I32, "unsigned int": DType.U32, "long": DType.I64, "unsigned long": DType.U64,
    "long long": DType.I64, "unsigned long long": DType.U64, "short": DType.I16, "unsigned short": DType.U16,
    "char": DType.I8, "signed char": DType.I8, "unsigned char": DType.U8, "bool": DType.U8,
}  # fmt: skip
_VECTOR = re.compile(r"^(float|double|int|uint|short|ushort|char|uchar|longlong|ulonglong|half)([1-4])$")
_SHORT = {"uint": "unsigned int", "ushort": "unsigned short", "uchar": "unsigned char", "half": "__half",
          "longlong": "long long", "ulonglong": "unsigned long long"}  # fmt: skip


def described_kernel(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel's names, parameters and resources."""
    parameters = kernel.program().parameters
    types = signature(kernel.demangled)
    return {
        "name": kernel.name,
        "demangled": kernel.display_name,
        "short": plain_name(kernel.display_name) or kernel.name,
        "parameters": [
            _parameter(i, parameter, types[i] if len(types) == len(parameters) else "")
            for i, parameter in enumerate(parameters)
        ],
        "resources": {
            "registers": kernel.resources.registers,
            "static_shared": kernel.resources.static_shared,
            "max_threads": kernel.resources.max_threads,
            "assumed": kernel.resources.assumed,
        },
    }


def described_launch(text: LaunchText) -> dict[str, Any]:
    """Return a launch in words, with its arguments and loops by name.

    >>> from warpwatt.request.launch_text import LaunchText
    >>> described_launch(LaunchText(grid="8", block="64", arg=("n=5",)))
    {'grid': '8', 'block': '64', 'args': {'n': '5'}}
    """
    options = {key: value for key, value in asdict(text).items() if value not in (None, (), [])}
    tables = {
        key: _table(options.pop(old)) for key, old in (("args", "arg"), ("loops", "loop")) if old in options
    }
    return {**options, **tables}


def _table(pairs: Sequence[str]) -> dict[str, str]:
    return {name.strip(): value.strip() for name, _, value in (pair.partition("=") for pair in pairs)}


def _parameter(index: int, parameter: Parameter, kind: str) -> dict[str, Any]:
    pointer = parameter.pointer or kind.rstrip().endswith("*")
    return {
        "index": index,
        "name": parameter.source_name or str(index),
        "type": kind or parameter.type,
        "bytes": parameter.size,
        "pointer": pointer,
        "element": element(kind) if pointer else None,
    }


def element(kind: str) -> str:
    """Return the element type of a buffer for a pointer's C++ type, ``f32`` where it says nothing.

    >>> element("float const*"), element("unsigned int*"), element("float4 const*"), element("")
    ('f32', 'u32', 'f32', 'f32')
    """
    words = re.sub(r"\b(const|volatile|__restrict)\b|[*&]", " ", kind)
    plain = " ".join(words.split())
    if vector := _VECTOR.match(plain):
        plain = _SHORT.get(vector[1], vector[1])
    return str(_ELEMENTS.get(plain, DType.F32))
