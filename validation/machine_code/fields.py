"""Where the bits of operands lie, learnt from what one bit changes in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from validation.machine_code.oracle import Sample, Token
from warpwatt.isa.sass.decoding.fields import Field, read_field

CONTROL = (1 << 17) - 1 << 105
"""Bits of the scheduling information, which are not printed."""
FREE = (63 << 5 | 17) << 105
"""Scheduling information that every instruction may have: no barriers set, one cycle."""
PROBED = (*range(12, 94), 122, 123, 124)
"""Bits that programs use and that do not name the encoding; the last three are the reuse flags.

Bits 94 to 104 and 125 to 127 are 0 in all programs. A word with one of bits 101 to 104 changes how nvdisasm
prints all words behind it on sm_80 to sm_89 (it adds descriptors).
"""
_REGISTER_BITS = {"R": 8, "UR": 6, "P": 3, "UP": 3}
_COMMON = [f"R{first}.8" for first in (16, 24, 32, 64)]
_COMMON += [f"UR{first}.{bits}" for first in (16, 24, 32, 64) for bits in (6, 8)]
_COMMON += [f"{kind}{first}.3" for kind in ("P", "UP") for first in (12, 68, 77, 81, 84, 87)]
COMMON = tuple(map(read_field, _COMMON))
"""Fields that many encodings have, whether or not flipping shows them."""
LITERALS = tuple(map(read_field, ("f32.32", "d32.32", "h48.16", "h32.16", "b48.16", "b32.16")))
LITERAL = LITERALS[0]
"""What stands for a literal while its format is not known."""
_WITNESSES = 3
"""Different words that a token has to be the same in before it counts as a constant."""
Flips = list[tuple[Sample, list[tuple[int, Sample | None]]]]
"""Samples, each with what flipping each probed bit makes of it; -1 stands for several bits."""
_SPECIAL = {"16.8": 255, "24.8": 255, "32.8": 255, "64.8": 255, "24.6": 63, "32.6": 63, "64.6": 63}
_SPECIAL |= {"12.3": 7, "81.3": 7, "84.3": 7, "87.3": 7, "40.24": 0}
_IMMEDIATES = (0, 1, 4, 1 << 16)


def special_words(word: int) -> list[int]:
    """Return a word with each field that most encodings have set to what may be printed in another way."""
    fields = [(read_field("x" + where), number) for where, number in _SPECIAL.items()]
    fields += [(read_field("x32.32"), number) for number in _IMMEDIATES]
    return [put(word, field, number) for field, number in fields]


def put(word: int, field: Field, number: int) -> int:
    """Return a word with a number in a field."""
    for first, bits, power in field.runs:
        mask = (1 << bits) - 1
        word = word & ~(mask << first) | (number >> power & mask) << first
    return word


def learn_fields(flips: Flips) -> tuple[Field, ...]:
    """Return the fields of an encoding."""
    found: list[_Bits] = []
    for base, flipped in flips:
        for bits in _bits_of(base, flipped):
            for other in found:
                if other.agrees(bits):
                    other.add(bits)
                    break
            else:
                found.append(bits)
    fields = dict.fromkeys(bits.field() for bits in found)
    if any(token.kind == "f" for base, _ in flips for tokens in base.tokens for token in tokens):
        fields[LITERAL] = None
    return tuple(fields)


class _Bits:
    """Bits of one field, with the power of two that each stands for."""

    def __init__(self, kind: str) -> None:
        self.kind, self.powers, self.signed = kind, dict[int, int](), False

    def agrees(self, other: _Bits) -> bool:
        """Return whether both may be parts of one field."""
        if self.kind != other.kind:
            return False
        bits = {power: bit for bit, power in self.powers.items()}
        near = {b - p for b, p in self.powers.items()} & {b - p for b, p in other.powers.items()}
        return bool(near) and all(
            self.powers.get(b, p) == p and bits.get(p, b) == b for b, p in other.powers.items()
        )

    def add(self, other: _Bits) -> None:
        """Take the bits of the other over."""
        self.powers |= other.powers
        self.signed |= other.signed

    def field(self) -> Field:
        """Return the field, with gaps closed: bits that could not be flipped alone."""
        lines = defaultdict(list)
        for bit, power in self.powers.items():
            lines[bit - power].append(bit)
        runs = []
        for shift, bits in sorted(lines.items(), key=lambda line: min(line[1]) - line[0]):
            first, last = min(bits), max(bits)
            if len(lines) == 1 and self.kind in _REGISTER_BITS:
                first, last = shift, max(last, shift + _REGISTER_BITS[self.kind] - 1)
            runs.append((first, last - first + 1, first - shift))
        return Field(self.kind, tuple(runs), self.signed)


def _bits_of(base: Sample, flipped: Iterable[tuple[int, Sample | None]]) -> list[_Bits]:
    """Return the bits of each number and register of a sample, if they change by powers of two."""
    found: dict[tuple[int, int], _Bits] = {}
    odd = set()
    for bit, other in flipped:
        if bit < 0 or other is None or base.texts != other.texts:
            continue
        for place, old, change in _changes(base, other):
            worth = change if other.word >> bit & 1 else -change
            if abs(worth).bit_count() != 1:
                odd.add(place)
                continue
            bits = found.setdefault(place, _Bits(old.kind))
            bits.powers[bit] = abs(worth).bit_length() - 1
            bits.signed |= worth < 0
    return [bits for place, bits in found.items() if place not in odd]


def _changes(base: Sample, other: Sample) -> Iterable[tuple[tuple[int, int], Token, int]]:
    """Yield place, token and difference of the numbers where two samples of the same texts differ."""
    for i, (before, after) in enumerate(zip(base.tokens, other.tokens, strict=True)):
        for j, (old, new) in enumerate(zip(before, after, strict=True)):
            numbers = _number(old, new), _number(new, old)
            if numbers[0] is None or numbers[1] is None:
                continue
            moved = other.address - base.address if old.kind == "t" else 0
            if change := numbers[1] - numbers[0] - moved:
                yield (i, j), old, change


def _number(token: Token, beside: Token) -> int | None:
    """Return a token's number; that of the zero register and the true predicate is all ones."""
    if token.number is None and token.kind in _REGISTER_BITS:
        bits = _REGISTER_BITS[token.kind]
        return (1 << bits) - 1 if (beside.number or 0) < 1 << bits else 255
    return token.number


def candidates(own: Sequence[Field], samples: Sequence[Sample], part: int, place: int) -> set[str]:
    """Return, in braces, the fields that print a token of every sample: the encoding's, else common ones.

    A common field needs samples that differ. Where there are none, the token is taken for a constant.
    """
    kind = samples[0].tokens[part][place].kind
    texts = {s.tokens[part][place].text for s in samples}
    for fields in (own, COMMON if len(texts) > 1 else ()):
        fitting = [f for f in fields if (f.kind in "fdhb" if kind == "f" else f.kind == kind)]
        if found := {
            f"{{{f.spelling}}}"
            for f in fitting
            if all(f.text(s.word, s.address) == s.tokens[part][place].text for s in samples)
        }:
            return found
    return texts if len(texts) == 1 and len({s.word for s in samples}) >= _WITNESSES else set()
