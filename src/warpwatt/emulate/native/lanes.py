"""LLVM text of operations across the lanes of a warp, of registers and special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.native.floats import extreme_of
from warpwatt.emulate.native.llvm import host
from warpwatt.emulate.native.records import MACHINE, SPECIAL_REGISTERS, WARP, offset_of
from warpwatt.emulate.native.tables import neutral
from warpwatt.emulate.native.values import literal, suffix, vector_type
from warpwatt.emulate.run import CLOCK_TICK

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Operation, Value
    from warpwatt.emulate.native.values import Text


def lane(text: Text, operation: Operation) -> None:
    """LANE."""
    numbers = ", ".join(f"i32 {i}" for i in range(32))
    text.bind(operation.results[0], f"<{numbers}>", scalar=False)


def special(text: Text, operation: Operation) -> None:
    """Write SPECIAL."""
    (result,) = operation.results
    name = str(operation.data)
    if name.startswith("tid."):
        place = offset_of(WARP, "tid") + 128 * "xyz".index(name[-1])
        text.bind(result, text.load("<32 x i32>", "%w", place, 64), scalar=False)
    elif name in ("clock", "clock64", "globaltimer"):
        of_all = name == "globaltimer"
        owner, layout, tick = ("%m", MACHINE, 1) if of_all else ("%w", WARP, CLOCK_TICK)
        end = text.load("i64", owner, offset_of(layout, "clock"))
        left = text.load("i64", "%w", offset_of(WARP, "turn"))
        done = text.let(f"sub i64 {text.let(f'sub i64 {end}, {left}')}, {text.length}")
        made = text.let(f"mul i64 {done}, {tick}")
        if result.type is Type.I32:
            made = text.let(f"trunc i64 {made} to i32")
        text.bind(result, made, scalar=True)
    else:
        place = offset_of(WARP, "special") + offset_of(SPECIAL_REGISTERS, name)
        text.bind(result, text.load("i32", "%w", place), scalar=True)


def active(text: Text, operation: Operation) -> None:
    """ACTIVE."""
    text.bind(operation.results[0], text.active_bits, scalar=True)


def ballot(text: Text, operation: Operation) -> None:
    """BALLOT."""
    text.bind(operation.results[0], text.on(operation.args[0]), scalar=True)


def shuffle(text: Text, operation: Operation) -> None:
    """SHUFFLE."""
    value, lane_ = operation.args
    (result,) = operation.results
    if text.is_scalar(value):
        text.bind(result, text.values[value.index], scalar=True)
    elif text.is_scalar(lane_):
        index = text.let(f"and i32 {text.scalar(lane_)}, 31")
        kind = vector_type(value.type)
        text.bind(result, text.let(f"extractelement {kind} {text.vector(value)}, i32 {index}"), scalar=True)
    else:
        text.bind(result, _permute(text, value, text.vector(lane_)), scalar=False)


def _permute(text: Text, value: Value, lanes: str) -> str:
    """Return each lane's value at another lane."""
    index = text.let(f"and <32 x i32> {lanes}, splat (i32 31)")
    name = text.vector(value)
    if value.type is Type.I1:
        bits = text.splat(Type.I32, text.bits(value))
        moved = text.let(f"lshr <32 x i32> {bits}, {index}")
        return text.let(f"trunc <32 x i32> {moved} to <32 x i1>")
    if value.type.bits == 64:
        kind = vector_type(value.type)
        whole = text.let(f"bitcast {kind} {name} to <32 x i64>") if value.type is Type.F64 else name
        low = text.let(f"trunc <32 x i64> {whole} to <32 x i32>")
        shifted = text.let(f"lshr <32 x i64> {whole}, splat (i64 32)")
        high = text.let(f"trunc <32 x i64> {shifted} to <32 x i32>")
        low, high = (_permute_words(text, half, index) for half in (low, high))
        low = text.let(f"zext <32 x i32> {low} to <32 x i64>")
        high = text.let(f"zext <32 x i32> {high} to <32 x i64>")
        high = text.let(f"shl <32 x i64> {high}, splat (i64 32)")
        whole = text.let(f"or <32 x i64> {low}, {high}")
        return text.let(f"bitcast <32 x i64> {whole} to {kind}") if value.type is Type.F64 else whole
    if value.type is Type.F32:
        words = _permute_words(text, text.let(f"bitcast <32 x float> {name} to <32 x i32>"), index)
        return text.let(f"bitcast <32 x i32> {words} to <32 x float>")
    if value.type.bits < 32:
        kind = vector_type(value.type)
        words = _permute_words(text, text.let(f"zext {kind} {name} to <32 x i32>"), index)
        return text.let(f"trunc <32 x i32> {words} to {kind}")
    return _permute_words(text, name, index)


def _permute_words(text: Text, name: str, index: str) -> str:
    """Return 32 words in another order: two instructions on AVX-512, else loads from memory."""
    if "+avx512f" in host()[1].split(","):
        halves = [
            text.let(
                f"shufflevector <32 x i32> {source}, <32 x i32> poison, "
                f"<16 x i32> <{', '.join(f'i32 {i}' for i in range(start, start + 16))}>"
            )
            for source in (name, index)
            for start in (0, 16)
        ]
        intrinsic = "@llvm.x86.avx512.vpermi2var.d.512"
        moved = [
            text.let(
                f"call <16 x i32> {intrinsic}(<16 x i32> {halves[0]}, <16 x i32> {order}, "
                f"<16 x i32> {halves[1]})"
            )
            for order in halves[2:]
        ]
        every = ", ".join(f"i32 {i}" for i in range(32))
        return text.let(f"shufflevector <16 x i32> {moved[0]}, <16 x i32> {moved[1]}, <32 x i32> <{every}>")
    area = text.at("%m", offset_of(MACHINE, "values"))
    text.store("<32 x i32>", name, area, 0, 64)
    places = text.let(f"getelementptr i32, ptr {area}, <32 x i32> {index}")
    return text.let(
        f"call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> {places}, i32 4, "
        "<32 x i1> splat (i1 true), <32 x i32> poison)"
    )


def match(text: Text, operation: Operation) -> None:
    """MATCH."""
    (value,), (result,) = operation.args, operation.results
    if text.is_scalar(value):
        text.bind(result, text.active_bits, scalar=True)
        return
    widened = wide(text, value)
    text.store("<32 x i64>", widened, "%m", offset_of(MACHINE, "addresses"), 64)
    text.do(f"call void @match_lanes(ptr %m, i32 {text.active_bits})")
    text.bind(result, text.load("<32 x i32>", "%m", offset_of(MACHINE, "values"), 64), scalar=False)


def wide(text: Text, value: Value) -> str:
    """Return a value's bits as 64-bit integers, zeros above."""
    name, kind, short = text.vector(value), vector_type(value.type), f"<32 x i{value.type.bits}>"
    if value.type in (Type.F32, Type.F64):
        name = text.let(f"bitcast {kind} {name} to {short}")
    return name if value.type.bits == 64 else text.let(f"zext {short} {name} to <32 x i64>")


def reduce(text: Text, operation: Operation) -> None:
    """REDUCE."""
    value = operation.args[0]
    mask = operation.mask if operation.mask is not None else (operation.args[1:] or (None,))[0]
    how = Op(str(operation.data))
    kind, short = vector_type(value.type), text.kind(value.type, scalar=True)
    if how in (Op.FMIN, Op.FMAX, Op.FADD):
        made = _reduce_floats(text, how, value, mask)
    else:
        nothing = neutral(how, value.type) & (1 << value.type.bits) - 1
        rest = text.splat(value.type, literal(value.type, nothing))
        taken = text.let(
            f"select <32 x i1> {text.on_lanes(mask)}, {kind} {text.vector(value)}, {kind} {rest}"
        )
        made = text.let(f"call {short} @llvm.vector.reduce.{how.value}.{suffix(kind)}({kind} {taken})")
    text.bind(operation.results[0], made, scalar=True)


def _reduce_floats(text: Text, how: Op, value: Value, mask: Value | None) -> str:
    """Return the sum in lane order, or the least or greatest number."""
    kind, short = vector_type(value.type), text.kind(value.type, scalar=True)
    assert value.type is not Type.F16, "reductions of f16 are lifted to f32"
    neutral = float("nan") if how is not Op.FADD else -0.0
    rest = text.splat(value.type, literal(value.type, neutral))
    taken = text.let(f"select <32 x i1> {text.on_lanes(mask)}, {kind} {text.vector(value)}, {kind} {rest}")
    if how is Op.FADD:
        start = literal(value.type, -0.0)
        return text.let(
            f"call {short} @llvm.vector.reduce.fadd.{suffix(kind)}({short} {start}, {kind} {taken})"
        )
    for distance in (16, 8, 4, 2, 1):
        order = ", ".join(f"i32 {i ^ distance}" for i in range(32))
        other = text.let(f"shufflevector {kind} {taken}, {kind} poison, <32 x i32> <{order}>")
        taken = extreme_of(text, how, value.type, taken, other, scalar=False)
    return text.let(f"extractelement {kind} {taken}, i32 0")


LANES: dict[Op, Callable[[Text, Operation], None]] = {
    Op.LANE: lane,
    Op.SPECIAL: special,
    Op.ACTIVE: active,
    Op.BALLOT: ballot,
    Op.SHUFFLE: shuffle,
    Op.MATCH: match,
    Op.REDUCE: reduce,
}
"""What writes each operation on lanes."""
