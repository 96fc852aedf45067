"""Bit arithmetic that PTX and SASS share, as few micro-operations as constants allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type

if TYPE_CHECKING:
    from warpwatt.emulate.builder import Builder
    from warpwatt.emulate.ir import Value

_FULL = (1 << 32) - 1


def multiply_high(b: Builder, x: Value, y: Value, *, signed: bool) -> Value:
    """Return the upper half of the product of two integers of one width (16, 32 or 64 bits)."""
    if x.type is Type.I64:
        return _multiply_high_64(b, x, y, signed=signed)
    wide = {8: Type.I16, 16: Type.I32, 32: Type.I64}[x.type.bits]
    product = multiply_wide(b, x, y, signed=signed)
    return b.trunc(b.lshr(product, wide.bits // 2), x.type)


def multiply_wide(b: Builder, x: Value, y: Value, *, signed: bool) -> Value:
    """Return the whole product of two integers, twice as wide."""
    wide = {8: Type.I16, 16: Type.I32, 32: Type.I64}[x.type.bits]
    widen = b.sext if signed else b.zext
    return b.mul(widen(x, wide), widen(y, wide))


def _multiply_high_64(b: Builder, x: Value, y: Value, *, signed: bool) -> Value:
    mask = b.const(Type.I64, _FULL)
    x0, x1, y0, y1 = b.and_(x, mask), b.lshr(x, 32), b.and_(y, mask), b.lshr(y, 32)
    middle = b.add(b.mul(x1, y0), b.lshr(b.mul(x0, y0), 32))
    other = b.add(b.mul(x0, y1), b.and_(middle, mask))
    high = b.add(b.add(b.mul(x1, y1), b.lshr(middle, 32)), b.lshr(other, 32))
    if signed:
        high = b.sub(high, b.and_(b.ashr(x, 63), y))
        high = b.sub(high, b.and_(b.ashr(y, 63), x))
    return high


def add_with_carry(b: Builder, x: Value, y: Value, carry: Value | None) -> tuple[Value, Value]:
    """Return x + y + carry (I1 or None) and the carry out (I1)."""
    total = b.add(x, y)
    out = b.op(Op.ULT, total, x)
    if carry is None:
        return total, out
    final = b.add(total, b.zext(carry, x.type))
    return final, b.or_(out, b.op(Op.ULT, final, total))


def subtract_with_borrow(b: Builder, x: Value, y: Value, borrow: Value | None) -> tuple[Value, Value]:
    """Return x - y - borrow (I1 or None) and the borrow out (I1)."""
    difference = b.sub(x, y)
    out = b.op(Op.ULT, x, y)
    if borrow is None:
        return difference, out
    taken = b.zext(borrow, x.type)
    return b.sub(difference, taken), b.or_(out, b.op(Op.ULT, difference, taken))


def funnel(b: Builder, low: Value, high: Value, amount: int | Value, *, left: bool) -> Value:
    """Return the upper 32 bits of ``high:low`` shifted left by 0 to 32, or the lower ones shifted right."""
    if isinstance(amount, int):
        near, far = (high, low) if left else (low, high)
        if amount in (0, 32):
            return far if amount else near
        if left:
            return b.or_(b.shl(high, amount), b.lshr(low, 32 - amount))
        return b.or_(b.lshr(low, amount), b.shl(high, 32 - amount))
    rest = b.sub(b.i32(32), amount)
    if left:
        return b.or_(b.shl(high, amount), b.lshr(low, rest))
    return b.or_(b.lshr(low, amount), b.shl(high, rest))


# -- fields -----------------------------------------------------------------------------------------------


def field(b: Builder, value: Value, start: int, width: int, *, signed: bool) -> Value:
    """Return ``width`` bits of a 32-bit value from bit ``start``, widened by zeros or the sign."""
    if not signed and start == 0:
        return b.and_(value, b.i32((1 << width) - 1))
    above = 32 - width - start
    return (b.ashr if signed else b.lshr)(b.shl(value, above) if above else value, 32 - width)


def clamp(b: Builder, value: Value, bits: int, *, signed: bool) -> Value:
    """Return a signed integer clamped to the range of ``bits`` bits, with a sign or without."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    above = b.op(Op.SMAX, value, b.const(value.type, low))
    return b.op(Op.SMIN, above, b.const(value.type, high))


def saturating_sum(b: Builder, op: Op, x: Value, y: Value) -> Value:
    """Return the sum or difference of two signed I32; what does not fit becomes the nearest that does."""
    wide = b.op(op, b.sext(x, Type.I64), b.sext(y, Type.I64))
    return b.trunc(clamp(b, wide, 32, signed=True), Type.I32)


def split_halves(b: Builder, word: Value) -> tuple[Value, Value]:
    """Return the low and the high 16 bits of a 32-bit value, I16."""
    return b.trunc(word, Type.I16), b.trunc(b.lshr(word, 16), Type.I16)


def join_halves(b: Builder, low: Value, high: Value) -> Value:
    """Return the 32-bit value of two 16-bit ones."""
    bits = [b.zext(b.cast_bits(v, Type.I16), Type.I32) for v in (low, high)]
    return b.or_(bits[0], b.shl(bits[1], 16))


# -- functions of bits ------------------------------------------------------------------------------------


def lookup(b: Builder, table: int, *values: Value) -> Value:
    """Return a bitwise function of some values; bit ``x·4 + y·2 + z`` of the table is f(x, y, z)."""
    half = 1 << (len(values) - 1)
    ones = (1 << half) - 1
    low, high = table & ones, table >> half & ones
    first, *rest = values
    if not rest:
        return (b.const(first.type, 0), b.not_(first), first, b.const(first.type, -1))[table & 3]
    if low == high:
        return lookup(b, low, *rest)
    if (low, high) in ((0, ones), (ones, 0)):
        return b.not_(first) if low else first
    if low in (0, ones):
        with_rest = lookup(b, high, *rest)
        return b.or_(b.not_(first), with_rest) if low else b.and_(first, with_rest)
    where_clear = lookup(b, low, *rest)
    if high in (0, ones):
        return b.or_(first, where_clear) if high else b.and_(b.not_(first), where_clear)
    turned = first if low ^ high == ones else b.and_(first, lookup(b, low ^ high, *rest))
    return b.xor(where_clear, turned)


# -- bytes ------------------------------------------------------------------------------------------------


SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""Bytes that the modes of ``prmt`` pick, by the low two bits of the selector (PTX ISA, table of prmt)."""


def permute(b: Builder, low: Value, high: Value, selector: int | Value, mode: str = "") -> Value:
    """Return four bytes of ``high:low`` by the nibbles of a selector; bit 3 of one spreads the byte's sign.

    With a mode, the selector's low two bits choose among four selectors.
    """
    table = SELECTORS[mode] if mode else None
    if isinstance(selector, int):
        return _permute_constant(b, low, high, table[selector & 3] if table else selector)
    if table:
        first, second, third, fourth = (b.i32(s) for s in table)
        odd, upper = (b.trunc(b.lshr(selector, bit), Type.I1) for bit in (0, 1))
        selector = b.select(upper, b.select(odd, fourth, third), b.select(odd, second, first))
    return _permute_by(b, low, high, selector)


def _permute_constant(b: Builder, low: Value, high: Value, selector: int) -> Value:
    """Bytes that move alike move together."""
    groups: dict[tuple[int, int], int] = {}
    signs: list[tuple[int, int]] = []
    for at in range(4):
        nibble = selector >> (4 * at) & 15
        if nibble & 8:
            signs.append((at, nibble & 7))
        else:
            key = (nibble >> 2, at - (nibble & 3))
            groups[key] = groups.get(key, 0) | 0xFF << 8 * at
    result: Value | None = None
    for (word, move), mask in groups.items():
        part = _masked(b, high if word else low, move, mask)
        result = part if result is None else b.or_(result, part)
    for at, byte in signs:
        source = high if byte & 4 else low
        sign = b.ashr(b.shl(source, 24 - 8 * (byte & 3)), 31)
        part = b.and_(sign, b.i32(0xFF << 8 * at))
        result = part if result is None else b.or_(result, part)
    assert result is not None
    return result


def _masked(b: Builder, word: Value, move: int, mask: int) -> Value:
    """Return a word shifted left by ``move`` bytes (right if negative), and what the mask keeps of it."""
    kept = _FULL
    if move > 0:
        word, kept = b.shl(word, 8 * move), _FULL << 8 * move & _FULL
    elif move < 0:
        word, kept = b.lshr(word, -8 * move), _FULL >> -8 * move
    return word if mask == kept else b.and_(word, b.i32(mask))


def _permute_by(b: Builder, low: Value, high: Value, selector: Value) -> Value:
    """Return four bytes of ``high:low`` by the nibbles of a value."""
    both = b.pair(low, high)
    result: Value | None = None
    for at in range(4):
        nibble = b.and_(b.lshr(selector, 4 * at), b.i32(15))
        shift = b.zext(b.shl(b.and_(nibble, b.i32(7)), 3), Type.I64)
        byte = b.trunc(b.lshr(both, shift), Type.I8)
        spread = b.op(Op.NE, b.and_(nibble, b.i32(8)), b.i32(0))
        byte = b.zext(b.select(spread, b.ashr(byte, 7), byte), Type.I32)
        part = b.shl(byte, 8 * at)
        result = part if result is None else b.or_(result, part)
    assert result is not None
    return result
