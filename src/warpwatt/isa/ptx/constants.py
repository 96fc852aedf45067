"""Literals and constant expressions (PTX ISA 4.5), evaluated exactly, and in 64 bits as PTX does."""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable

from warpwatt.isa.ptx.lexer import integer

Number = int | float

_TOKEN = re.compile(
    r"\s*(?:(0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w))"
    r"|(\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+(?!\w))"
    r"|(0[xX][0-9a-fA-F]+[uU]?|0[bB][01]+[uU]?|\d+[uU]?)(?!\w)"
    r"|(WARP_SZ(?!\w))"
    r"|(\(\s*\.[su]64\s*\)|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^~!?:()]))",
    re.ASCII,
)
_DEEPEST = 60
"""Nesting of parentheses and signs in one expression; nobody writes more."""

_LEVELS: dict[str, int] = {
    op: level
    for level, ops in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"), start=1
    )
    for op in ops.split()
}


def bits_to_float(text: str) -> float:
    """Return the value of ``0f`` or ``0d`` and hexadecimal digits. A NaN is always the same object.

    >>> bits_to_float("0f3F800000"), bits_to_float("0d4000000000000000")
    (1.0, 2.0)
    """
    code = ">f" if text[1] in "fF" else ">d"
    value: float = struct.unpack(code, bytes.fromhex(text[2:]))[0]
    return math.nan if math.isnan(value) else value


def wrap(value: Number) -> Number:
    """Return an integer reduced to 64 bits: unsigned where it is positive, signed where it is negative.

    >>> wrap(2**64 + 1), wrap(-1), wrap(2**63)
    (1, -1, 9223372036854775808)
    """
    if isinstance(value, float):
        return value
    low = value & 0xFFFF_FFFF_FFFF_FFFF
    return low - (1 << 64) if value < 0 and low >> 63 else low


def evaluate(text: str) -> Number:
    """Return the value of a constant expression.

    Raises
    ------
    ValueError
        If the text is none.

    >>> evaluate("-5"), evaluate("(1+2)*3 << 1"), evaluate("0f40000000"), evaluate("7 > 3 ? 1 : 2")
    (-5, 18, 2.0, 1)
    """
    parser = _Expression(text)
    value = parser.choice(0)
    if parser.lexeme is not None:
        raise ValueError(text[:40])
    return value


class _Expression:
    """Recursive descent over the tokens of one expression, at most ``_DEEPEST`` deep."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.position = 0
        self.advance()

    def advance(self) -> None:
        """Read the next lexeme; None at the end."""
        self.lexeme: str | None = None
        self.value: Number | None = None
        if self.position == len(self.text):
            return
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            raise ValueError(self.text[self.position : self.position + 40])
        self.position = match.end()
        bits, real, whole, warp, mark = match.groups()
        self.lexeme = bits or real or whole or warp or mark
        if bits:
            self.value = bits_to_float(bits)
        elif real:
            self.value = float(real)
        elif whole:
            self.value = integer(whole)
            if self.value >> 64:
                raise ValueError(whole)
        elif warp:
            self.value = 32

    def accept(self, lexeme: str) -> bool:
        """Move on if ``lexeme`` stands here."""
        if self.lexeme != lexeme or self.value is not None:
            return False
        self.advance()
        return True

    def choice(self, depth: int) -> Number:
        """Return the value of ``a ? b : c`` or what binds tighter."""
        if depth > _DEEPEST:
            raise ValueError("expression nested too deeply")
        condition = self.binary(1, depth)
        if not self.accept("?"):
            return condition
        chosen = self.choice(depth + 1)
        if not self.accept(":"):
            raise ValueError("':' missing")
        other = self.choice(depth + 1)
        return chosen if condition else other

    def binary(self, level: int, depth: int) -> Number:
        """Return the value of operators of precedence ``level`` and above, left to right."""
        left = self.unary(depth)
        while self.value is None and self.lexeme is not None and _LEVELS.get(self.lexeme, 0) >= level:
            op = self.lexeme
            self.advance()
            left = _apply(op, left, self.binary(_LEVELS[op] + 1, depth + 1))
        return left

    def unary(self, depth: int) -> Number:
        """Return the value of a sign, cast, parenthesis or literal."""
        if depth > _DEEPEST:
            raise ValueError("expression nested too deeply")
        if self.value is not None:
            value = self.value
            self.advance()
            return value
        lexeme = self.lexeme
        if lexeme is None:
            raise ValueError("operand missing")
        self.advance()
        if lexeme == "(":
            value = self.choice(depth + 1)
            if not self.accept(")"):
                raise ValueError("')' missing")
            return value
        if lexeme in _UNARY:
            return wrap(_UNARY[lexeme](self.unary(depth + 1)))
        if lexeme[0] == "(":
            return _cast(self.unary(depth + 1), signed="s" in lexeme)
        raise ValueError(lexeme)


def _whole(value: Number) -> int:
    """Return ``value`` if it is an integer; raise ValueError otherwise."""
    if isinstance(value, float):
        raise ValueError("a whole number is needed")  # noqa: TRY004 - callers expect one kind of failure
    return value


def _cast(value: Number, *, signed: bool) -> int:
    """Return ``value`` as ``.s64`` or ``.u64``."""
    low = _whole(value) & 0xFFFF_FFFF_FFFF_FFFF
    return low - (1 << 64) if signed and low >> 63 else low


def _divide(left: Number, right: Number) -> Number:
    """Divide as C does: integers towards zero."""
    if right == 0:
        raise ValueError("division by zero")
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: Number, right: Number) -> Number:
    """Remainder as C takes it: with the sign of ``left``."""
    left, right = _whole(left), _whole(right)
    return left - right * _whole(_divide(left, right))


_UNARY: dict[str, Callable[[Number], Number]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": lambda a: ~_whole(a),
    "!": lambda a: int(not a),
}
_BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "<<": lambda a, b: _whole(a) << (_whole(b) & 63),
    ">>": lambda a, b: _whole(a) >> (_whole(b) & 63),
    "&": lambda a, b: _whole(a) & _whole(b),
    "|": lambda a, b: _whole(a) | _whole(b),
    "^": lambda a, b: _whole(a) ^ _whole(b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


def _apply(op: str, left: Number, right: Number) -> Number:
    """Return ``left op right``; raise ValueError where it has no value."""
    try:
        return wrap(_BINARY[op](left, right))
    except OverflowError as error:
        raise ValueError(op) from error
