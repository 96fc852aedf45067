"""Operands of SASS instructions as nvdisasm prints them, parsed into the types of ``core.program``."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from warpwatt.core.program import Address, Immediate, Operand, Register, Symbol, Vector

_NAMED_REGISTER = re.compile(r"(U?R(?:\d+|Z)|U?P(?:\d|T|R)|B\d+)((?:\.\w+)*)$")
_SPECIAL_REGISTER = re.compile(r"(?:SRZ|SR_[\w.]+|SR\d+)$")
_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|INF|[QS]?NAN)$", re.IGNORECASE)
_BRACKETS = re.compile(
    r"((?:desc|gdesc|idesc|tmem|ttu|a|cx?)?)((?:\[[^\[\]]*\])+)((?:\.(?:(?:tnsp|neg)[AB]|H[01]_H[01]|F32))*)$"
)
_SCALE = re.compile(r"X(\d+)$")


def parse_operands(text: str) -> tuple[Operand, ...]:
    """Return the operands of an instruction, in program order.

    >>> parse_operands("R0,desc[UR4][R2.64+0x8]")[1]
    Address(base=Register(name='R2', negated=False, modifiers=('64',)), offset=8, index=None, scale=1,
        modifiers=('desc[UR4]',))
    """
    return tuple(parse_operand(part) for part in _split(text))


@lru_cache(maxsize=65536)
def parse_operand(text: str) -> Operand:
    """Return one operand; what is neither register, number nor address becomes a :class:`Symbol`.

    >>> parse_operand("-|R3|.reuse")
    Register(name='R3', negated=True, modifiers=('abs', 'reuse'))
    >>> parse_operand("c[0x0][0x160]")
    Address(base=Symbol(name='c[0x0]'), offset=352, index=None, scale=1, modifiers=())
    >>> parse_operand("c[0x2][0x4].F32").modifiers
    ('F32',)
    """
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        return Vector(parse_operands(text[1:-1]))
    number = _number(text)
    if number is not None:
        return number
    sign, absolute, body, suffix = _decorations(text)
    if brackets := _BRACKETS.match(body):
        found = _address(brackets[1], brackets[2], sign, absolute)
        behind = tuple(brackets[3].split(".")[1:])
        return replace(found, modifiers=found.modifiers + behind) if behind else found
    return _register(sign, absolute, body + suffix) or Symbol(text)


def _split(text: str) -> list[str]:
    """Return the comma-separated parts of an operand list; commas within brackets do not count."""
    if not any(bracket in text for bracket in "[{("):
        return [part.strip() for part in text.split(",") if part.strip()]
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [piece for part in parts if part.strip() for piece in _adjacent_addresses(part.strip())]


def _adjacent_addresses(part: str) -> tuple[str, ...]:
    """Return the two addresses that sm_80 to sm_89 write without a comma (``[R9][R4.64]``), else the part."""
    return tuple(part.replace("][", "]\n[").split("\n")) if part.startswith("[") else (part,)


def _number(text: str) -> Immediate | None:
    """Return a literal, or None. Decimal numbers are floating-point, hexadecimal ones integers."""
    if _INTEGER.match(text):
        return Immediate(int(text, 16), text)
    if _FLOAT.match(text):
        return Immediate(float(re.sub("[QS]NAN", "nan", text, flags=re.IGNORECASE)), text)
    return None


def _decorations(text: str) -> tuple[str, bool, str, str]:
    """Return (sign, whether ``|x|``, what is inside, suffix behind the closing bar)."""
    sign = text[0] if text[:1] in ("-", "!", "~") else ""
    body = text[len(sign) :]
    if body.startswith("|") and "|" in body[1:]:
        inside, _, suffix = body[1:].partition("|")
        return sign, True, inside, suffix
    return sign, False, body, ""


def _register(sign: str, absolute: bool, text: str) -> Register | None:
    """Return a register with its modifiers, or None if ``text`` is not one."""
    if _SPECIAL_REGISTER.match(text):
        return Register(text)
    found = _NAMED_REGISTER.match(text)
    if found is None:
        return None
    around = ("not",) * (sign == "~") + ("abs",) * absolute
    return Register(found[1], sign in ("-", "!"), around + tuple(found[2].split(".")[1:]))


def _address(prefix: str, brackets: str, sign: str, absolute: bool) -> Address:
    """Return an address from its last bracket and the name or descriptor in front of that."""
    *before, inside = brackets[1:-1].split("][")
    around = ("neg",) * (sign == "-") + ("not",) * (sign == "~") + ("abs",) * absolute
    registers, offset = _terms(inside)
    if prefix in ("c", "cx"):
        bank = Symbol(f"{prefix}[{before[0]}]" if before else prefix)
        index = registers[0] if registers else None
        return Address(bank, offset, index, 1, around)
    if prefix:
        around += (f"{prefix}[{before[0]}]",) if before else (prefix,)
    base, index, scale = _base_and_index(registers)
    return Address(base, offset, index, scale, around)


def _terms(inside: str) -> tuple[list[Register], int]:
    """Return the registers of ``R2.X4+UR5+0x10`` in order, and the sum of its numbers."""
    registers, offset = [], 0
    for term in inside.replace("+-", "-").replace("-", "+-").split("+"):
        if _INTEGER.match(term):
            offset += int(term, 16)
        elif register := _register("", False, term.strip()):
            registers.append(register)
    return registers, offset


def _base_and_index(registers: list[Register]) -> tuple[Register | None, Register | None, int]:
    """Return base, index and scale: the scaled register is the index, else the second one."""
    for position, register in enumerate(registers):
        scale = next((int(m[1]) for m in map(_SCALE.match, register.modifiers) if m), None)
        if scale is not None:
            others = registers[:position] + registers[position + 1 :]
            return (others[0] if others else None), register, scale
    base = registers[0] if registers else None
    return base, (registers[1] if len(registers) > 1 else None), 1
