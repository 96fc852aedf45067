"""The functions of :mod:`~warpwatt.emulate.native.pointers` as numba compiles them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir  # type: ignore[import-untyped]  # ships no type information
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from warpwatt.emulate.native import pointers

if TYPE_CHECKING:
    from collections.abc import Callable

_ARRAYS = {
    pointers.bytes_at: types.uint8,
    pointers.u16_at: types.uint16,
    pointers.i32_at: types.int32,
    pointers.u32_at: types.uint32,
    pointers.i64_at: types.int64,
    pointers.u64_at: types.uint64,
    pointers.f32_at: types.float32,
    pointers.f64_at: types.float64,
}


def _array(element: Any) -> Callable[..., Any]:
    """Return an intrinsic that makes an array of an address and a length."""

    def typing(context: Any, address: Any, count: Any) -> tuple[Any, Any]:  # noqa: ARG001 - numba's signature
        array = types.Array(element, 1, "C")

        def generate(target: Any, builder: Any, _: Any, values: Any) -> Any:
            size = target.get_constant(types.intp, element.bitwidth // 8)
            data = builder.inttoptr(values[0], target.get_data_type(element).as_pointer())
            made = target.make_array(array)(target, builder)
            place: Any = populate_array  # has no type information
            place(made, data=data, shape=[values[1]], strides=[size], itemsize=size, meminfo=None)
            return made._getvalue()

        return array(types.int64, types.int64), generate

    made: Callable[..., Any] = intrinsic(typing)
    return made


def _table(element: Any) -> Callable[..., Any]:
    """Return an intrinsic that makes a table of an address, rows and columns."""

    def typing(context: Any, address: Any, rows: Any, columns: Any) -> tuple[Any, Any]:  # noqa: ARG001
        array = types.Array(element, 2, "C")

        def generate(target: Any, builder: Any, _: Any, values: Any) -> Any:
            size = target.get_constant(types.intp, element.bitwidth // 8)
            data = builder.inttoptr(values[0], target.get_data_type(element).as_pointer())
            made = target.make_array(array)(target, builder)
            strides = [builder.mul(size, values[2]), size]
            place: Any = populate_array  # has no type information
            place(made, data=data, shape=[*values[1:]], strides=strides, itemsize=size, meminfo=None)
            return made._getvalue()

        return array(types.int64, types.int64, types.int64), generate

    made: Callable[..., Any] = intrinsic(typing)
    return made


@intrinsic
def _copy(context: Any, to: Any, start: Any, count: Any) -> tuple[Any, Any]:  # noqa: ARG001
    def generate(target: Any, builder: Any, _: Any, values: Any) -> Any:
        pointer, wide = ir.IntType(8).as_pointer(), ir.IntType(64)
        move = builder.module.declare_intrinsic("llvm.memmove", [pointer, pointer, wide])
        pair = [builder.inttoptr(value, pointer) for value in values[:2]]
        builder.call(move, [*pair, values[2], ir.Constant(ir.IntType(1), 0)])
        return target.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def _call(context: Any, address: Any, first: Any, second: Any) -> tuple[Any, Any]:  # noqa: ARG001
    def generate(_: Any, builder: Any, __: Any, values: Any) -> Any:
        wide = ir.IntType(64)
        kind = ir.FunctionType(wide, [wide, wide])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


INTRINSICS: dict[Any, Any] = {
    **{function: _array(element) for function, element in _ARRAYS.items()},
    pointers.i64_rows: _table(types.int64),
    pointers.f64_rows: _table(types.float64),
    pointers.copy: _copy,
    pointers.call: _call,
}
"""Compiled counterpart of each function."""
