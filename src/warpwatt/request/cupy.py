"""CuPy's elementwise kernels as CUDA source, without a device.

CuPy writes such a kernel around the user's operation when it is launched: a loop over all elements, 128
threads a block and as many blocks as there are elements for (CuPy 13, ``get_simple_elementwise_kernel``).
Dense arrays of one shape are taken, as CuPy's own reduction of dimensions leaves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from string import Template
from typing import Any

from warpwatt.core.arguments import Buffer, DType, parse_arguments
from warpwatt.core.errors import ArgumentError, UsageError
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.values import format_pairs, format_value

THREADS = 128
_TYPES = {
    DType.F16: "__half", DType.F32: "float", DType.F64: "double",
    DType.I8: "signed char", DType.I16: "short", DType.I32: "int", DType.I64: "long long",
    DType.U8: "unsigned char", DType.U16: "unsigned short", DType.U32: "unsigned int",
    DType.U64: "unsigned long long",
}  # fmt: skip
_SOURCE = Template("""#include <cuda_fp16.h>
template <typename E> struct _Raw {
    E* data; long long elements;
    __device__ E& operator[](long long at) const { return data[at]; }
    __device__ long long size() const { return elements; }
};
$typedefs
$preamble
extern "C" __global__ void $name($parameters, long long _size) {
    _Raw<const char> _ind = {nullptr, _size};
    $arrays
    $loop_prep;
    #pragma unroll 1
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < _size;
         i += (long long)blockDim.x * gridDim.x) {
        $elements
        $operation;
    }
    $after_loop;
}
""")


def written(kernel: Any, launch: LaunchText, values: Mapping[str, object]) -> tuple[str, LaunchText]:
    """Return the source of an elementwise kernel for arguments, and its launch.

    Raises
    ------
    UsageError
        If an argument is not given, or all are raw and ``size`` is not.
    ArgumentError
        If arrays differ in their numbers of elements, or CuPy has no such elements.
    """
    read = parse_arguments(format_pairs(values))
    given = [(p, _given(kernel, p, values, read)) for p in (*kernel.in_params, *kernel.out_params)]
    elements = _elements(kernel, given, values)
    extra = getattr(kernel, "kwargs", None) or {}
    named = {p.ctype: _type(p, value) for p, value in given if p.dtype is None and _told(value)}
    named |= {p.ctype: _type(p, value) for p, value in given if p.dtype is None and p.ctype not in named}
    source = _SOURCE.substitute(
        name=kernel.name,
        operation=kernel.operation,
        preamble=kernel.preamble or "",
        loop_prep=extra.get("loop_prep", ""),
        after_loop=extra.get("after_loop", ""),
        typedefs="".join(f"typedef {kind} {name};\n" for name, kind in named.items()),
        parameters=", ".join(_parameter(p, value) for p, value in given),
        arrays=" ".join(_raw(p, value) for p, value in given if p.raw),
        elements=" ".join(_element(p, value) for p, value in given if not p.raw),
    )
    texts = (f"{_name(p, value)}={format_value(p.name, values[p.name])}" for p, value in given)
    grid = str(max(1, -(-elements // THREADS)))
    made = LaunchText(grid=grid, block=str(THREADS), arg=(*texts, f"_size={elements}"))
    return source, made.over(replace(launch, arg=()))


def _given(kernel: Any, parameter: Any, values: Mapping[str, object], read: Mapping[str, object]) -> object:
    if parameter.name not in values:
        hint = f"args={{{parameter.name!r}: ...}}: a number, an array, or a buffer such as 'f32[n]'"
        raise UsageError(f"{kernel.name} needs {parameter.name!r}", hint=hint)
    found = read[parameter.name]
    return found if isinstance(found, Buffer) else values[parameter.name]


def _elements(kernel: Any, given: list[tuple[Any, object]], values: Mapping[str, object]) -> int:
    """Return over how many elements the kernel runs."""
    sizes = {v.elements for p, v in given if not p.raw and isinstance(v, Buffer)}
    if not sizes and not isinstance(values.get("size"), int):
        raise UsageError(f"{kernel.name} has raw arrays alone", hint="args={..., 'size': elements}")
    if len(sizes) > 1:
        problem = f"{kernel.name}: arrays of {' and '.join(map(str, sorted(sizes)))} elements"
        raise ArgumentError(problem, hint="broadcast them before")
    return sizes.pop() if sizes else int(str(values["size"]))


def _told(value: object) -> bool:
    return isinstance(value, Buffer)


def _type(parameter: Any, value: object) -> str:
    """Return the C type of a parameter's elements."""
    if isinstance(value, Buffer):
        if value.dtype not in _TYPES:
            raise ArgumentError(f"argument {parameter.name!r}: CuPy has no arrays of {value.dtype}")
        return _TYPES[value.dtype]
    return "bool" if isinstance(value, bool) else "long long" if isinstance(value, int) else "double"


def _c_type(parameter: Any, value: object) -> str:
    """Return the type as the kernel names it: ``T`` stays ``T``, a NumPy type is C's."""
    if parameter.dtype is None:
        return str(parameter.ctype)
    return _type(parameter, value) if _told(value) else str(parameter.ctype)


def _const(parameter: Any) -> str:
    return "const " if parameter.is_const else ""


def _name(parameter: Any, value: object) -> str:
    return f"_raw_{parameter.name}" if _told(value) else str(parameter.name)


def _parameter(parameter: Any, value: object) -> str:
    star = "*" if _told(value) else ""
    return f"{_const(parameter)}{_c_type(parameter, value)}{star} {_name(parameter, value)}"


def _raw(parameter: Any, value: object) -> str:
    if not isinstance(value, Buffer):
        return ""
    kind = f"_Raw<{_const(parameter)}{_c_type(parameter, value)}>"
    return f"{kind} {parameter.name} = {{_raw_{parameter.name}, {value.elements}LL}};"


def _element(parameter: Any, value: object) -> str:
    if not _told(value):
        return ""
    kind = f"{_const(parameter)}{_c_type(parameter, value)}"
    return f"{kind}& {parameter.name} = _raw_{parameter.name}[i];"
