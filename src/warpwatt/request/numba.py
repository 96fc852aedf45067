"""Kernels of Numba's ``@cuda.jit`` compiled for arguments, without a driver.

Numba's own compiler makes PTX for any target (``numba.cuda.compile_ptx``); only a launch needs a GPU. Arrays
are passed as structures: their fields are filled in here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from warpwatt.core.arguments import Buffer, DType, parse_arguments
from warpwatt.core.errors import ArgumentError, CompileError, UsageError
from warpwatt.request.values import format_pairs, format_value

_TYPES = {
    DType.F16: "float16", DType.F32: "float32", DType.F64: "float64",
    DType.I8: "int8", DType.I16: "int16", DType.I32: "int32", DType.I64: "int64",
    DType.U8: "uint8", DType.U16: "uint16", DType.U32: "uint32", DType.U64: "uint64",
}  # fmt: skip


def is_dispatcher(kernel: object) -> bool:
    """Whether something is a function under ``@cuda.jit``, compiled or not."""
    return type(kernel).__module__.startswith("numba") and hasattr(kernel, "py_func")


def compiled(kernel: Any, values: Mapping[str, object]) -> Any:
    """Return what holds PTX of a dispatcher for these arguments, as a compiled dispatcher does.

    Raises
    ------
    UsageError
        If an argument is not given.
    ArgumentError
        If one is of no type that Numba has.
    CompileError
        When it is asked for PTX, if Numba refuses the function.
    """
    cuda: Any = importlib.import_module("numba.cuda")
    types = tuple(_type(name, value) for name, value in _given(kernel, values))

    def ptx(capability: tuple[int, int]) -> str:
        try:
            return str(cuda.compile_ptx(kernel.py_func, types, cc=capability, device=False)[0])
        except Exception as error:  # Numba's stages raise whatever type is at hand
            name = kernel.py_func.__name__
            problem = f"Numba refuses {name}: {type(error).__name__}"
            raise CompileError(problem, details=str(error)) from error

    definition = SimpleNamespace(inspect_asm=ptx, argument_types=types)
    return SimpleNamespace(py_func=kernel.py_func, overloads={types: definition})


def passed(kernel: Any, values: Mapping[str, object]) -> tuple[str, ...]:
    """Return the arguments as PTX has them: of an array its fields, the pointer under its own name."""
    texts = []
    for name, value in _given(kernel, values):
        texts.append(f"{name}={format_value(name, values[name])}")
        if isinstance(value, Buffer):
            texts += _fields(name, value)
    return tuple(texts)


def _fields(name: str, buffer: Buffer) -> Iterator[str]:
    """Yield the fields of a dense array's structure but its pointer, in C order."""
    yield from (f"{name}.meminfo=0", f"{name}.parent=0")
    yield from (f"{name}.nitems={buffer.elements}", f"{name}.itemsize={buffer.dtype.size}")
    stride = buffer.nbytes
    for axis, extent in enumerate(buffer.shape):
        stride //= max(1, extent)
        yield f"{name}.shape{axis}={extent}"
        yield f"{name}.strides{axis}={stride}"


def _given(kernel: Any, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the arguments in order, arrays and buffers in words as buffers."""
    read = parse_arguments(format_pairs(values))
    code = kernel.py_func.__code__
    for name in code.co_varnames[: code.co_argcount]:
        if name not in values:
            hint = f"args={{{name!r}: ...}}: a number, an array, or a buffer such as 'f32[n]'"
            raise UsageError(f"{kernel.py_func.__name__} needs {name!r}", hint=hint)
        buffer = read[name]
        yield name, buffer if isinstance(buffer, Buffer) else values[name]


def _type(name: str, value: object) -> Any:
    types: Any = importlib.import_module("numba").types
    if isinstance(value, Buffer):
        if value.dtype not in _TYPES:
            raise ArgumentError(f"argument {name!r}: Numba has no arrays of {value.dtype}")
        return types.Array(getattr(types, _TYPES[value.dtype]), len(value.shape), "C")
    if isinstance(value, bool):
        return types.boolean
    return types.int64 if isinstance(value, int) else types.float64
