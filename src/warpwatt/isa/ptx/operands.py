"""The text between opcode and semicolon to operands (PTX ISA, chapter 6).

Every distinct operand text of a function is parsed once; instructions share the resulting values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from warpwatt.core.program import Address, Immediate, Register, Symbol, Vector
from warpwatt.isa.ptx.constants import evaluate
from warpwatt.isa.ptx.lexer import NAME
from warpwatt.isa.ptx.syntax import Bracket, Group, Operand, Pair, SymbolOffset, Variable

_SELECTED = re.compile(rf"({NAME})((?:\.[a-z]\w*)?)", re.ASCII)
_SUM = re.compile(rf"({NAME}(?:\.[a-z]\w*)?)\s*(?:\+\s*([^+].*)|(-\s*[^-].*))", re.ASCII | re.DOTALL)
_PLAIN = re.compile(
    r"(?P<register>%[\w$]+(?:\.[a-z]\w*)?)|(?P<whole>-?[1-9]\d{0,17}|0)"
    r"|\[\s*(?P<base>%[\w$]+)\s*(?:\+\s*(?P<offset>-?[1-9]\d{0,17}|0))?\s*\]",
    re.ASCII,
)
"""What nine operands in ten are; the grammar below reads them too, only slower."""
_BOUNDARY = re.compile(r"[,{}\[\]()]")
_CLOSING = {"{": "}", "[": "]", "(": ")"}


def split(text: str) -> Iterator[str]:
    """Yield the comma-separated parts of ``text`` outside brackets, stripped.

    Raises
    ------
    ValueError
        If brackets do not match or a part is empty.

    >>> list(split("{%f1, %f2}, [%rd1+8]"))
    ['{%f1, %f2}', '[%rd1+8]']
    """
    if not text or text.isspace():
        return
    start = 0
    expected: list[str] = []
    for match in _BOUNDARY.finditer(text):
        mark = match[0]
        if mark == ",":
            if not expected:
                yield _nonempty(text[start : match.start()])
                start = match.end()
        elif mark in _CLOSING:
            expected.append(_CLOSING[mark])
        elif not expected or expected.pop() != mark:
            raise ValueError(f"unmatched {mark!r}")
    if expected:
        raise ValueError(f"missing {expected[-1]!r}")
    yield _nonempty(text[start:])


def _nonempty(part: str) -> str:
    """Return ``part`` stripped; raise ValueError if nothing is left."""
    part = part.strip()
    if not part:
        raise ValueError("an operand is missing")
    return part


def parse_operand(text: str, registers: Collection[str], *, group: bool = False) -> Operand:
    """Return the operand ``text`` stands for.

    Parameters
    ----------
    text
        One operand, stripped.
    registers
        Declared register names that do not begin with ``%`` (see :func:`declared_name`); every other plain
        name is a symbol.
    group
        Whether parentheses hold a list (in calls) rather than a constant expression.

    Raises
    ------
    ValueError
        If the text is no operand.

    >>> address = parse_operand("[%rd1+-8]", ())
    >>> address.base.name, address.offset
    ('%rd1', -8)
    >>> parse_operand("0f3F800000", ())
    Immediate(value=1.0, text='0f3F800000')
    """
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        register, whole, base, offset = plain.groups()
        if register is not None:
            return Register(register)
        if whole is not None:
            return Immediate(int(whole), whole)
        return Address(Register(base), int(offset) if offset else 0)
    first = text[0]
    if first == "[" and text[-1] == "]":
        return _bracket(text[1:-1].strip(), registers)
    if first == "(" and group and text[-1] == ")":
        return Group(tuple(_element(part, registers) for part in split(text[1:-1])))
    return _element(text, registers)


def _element(text: str, registers: Collection[str]) -> Operand:
    """Return an operand that may stand inside brackets or parentheses: a vector or a scalar."""
    if text[0] == "{" and text[-1] == "}":
        return Vector(tuple(_component(part, registers) for part in split(text[1:-1])))
    return _scalar(text, registers)


def _component(text: str, registers: Collection[str]) -> Register | Immediate | Symbol:
    """Return an element of a vector."""
    operand = _scalar(text, registers)
    if isinstance(operand, Pair | SymbolOffset):
        raise ValueError(text)  # noqa: TRY004 - callers expect one kind of failure
    return operand


def range_name(name: str) -> str:
    """Return the name of the range ``name`` would belong to.

    >>> range_name("%r12")
    '%r<>'
    """
    return name.rstrip("0123456789") + "<>"


def declared_name(variable: Variable) -> str:
    """Return what stands for a declaration in a set of names: the name, or that of its range."""
    return variable.name if variable.count is None else variable.name + "<>"


def _scalar(text: str, registers: Collection[str]) -> Register | Immediate | Symbol | Pair | SymbolOffset:
    """Return an operand without brackets."""
    match = _SELECTED.fullmatch(text)
    if match is not None and text != "WARP_SZ":
        return _named(match[1], match[2], registers)
    if text[0] == "!" and (match := _SELECTED.fullmatch(text[1:].strip())) is not None:
        return Register(match[0], negated=True)
    if "|" in text and (pair := _pair(text, registers)) is not None:
        return pair
    if (match := _SUM.fullmatch(text)) is not None and not text.startswith("WARP_SZ"):
        return SymbolOffset(match[1], _offset(match))
    return Immediate(evaluate(text), " ".join(text.split()))


def _named(name: str, selector: str, registers: Collection[str]) -> Register | Symbol:
    """Return what a plain name is: a register if it looks like one or was declared as one."""
    if name[0] == "%" or name == "_" or name in registers or (registers and range_name(name) in registers):
        return Register(name + selector)
    if selector:
        raise ValueError(name + selector)
    return Symbol(name)


def _pair(text: str, registers: Collection[str]) -> Pair | None:
    """Return ``a|b`` as a pair of names, None if it is something else (a constant expression)."""
    left, _, right = text.partition("|")
    first = _SELECTED.fullmatch(left.strip())
    second = _SELECTED.fullmatch(right.strip())
    if first is None or second is None:
        return None
    return Pair(_named(first[1], first[2], registers), _named(second[1], second[2], registers))


def _offset(match: re.Match[str]) -> int:
    """Return the offset of a matched ``name + offset``."""
    value = evaluate(match[2] or match[3])
    if isinstance(value, float):
        raise ValueError("an offset must be a whole number")  # noqa: TRY004 - callers expect one kind of failure
    return value


def _bracket(text: str, registers: Collection[str]) -> Address | Bracket:
    """Return the inside of square brackets: an address, or an address with coordinates."""
    parts = tuple(split(text))
    if not parts:
        raise ValueError("empty address")
    if len(parts) > 1:
        return Bracket(tuple(_element(part, registers) for part in parts))
    match = _SELECTED.fullmatch(text)
    if match is not None:
        return Address(_named(match[1], match[2], registers))
    if (match := _SUM.fullmatch(text)) is not None:
        base = _SELECTED.fullmatch(match[1])
        assert base is not None
        return Address(_named(base[1], base[2], registers), _offset(match))
    value = evaluate(text)
    if isinstance(value, float):
        raise ValueError("an address must be a whole number")  # noqa: TRY004 - callers expect one kind of failure
    return Address(None, value)
