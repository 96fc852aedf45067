"""Both sides' source and machine code beside each other: rows aligned, changes marked, the heat of both.

Shares are of the larger whole, so that the heat of both sides means the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from warpwatt.compare.lines import match_lines
from warpwatt.core.comparison import LineStatus
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Instruction, Program
from warpwatt.render.code import AROUND
from warpwatt.render.console import plain
from warpwatt.render.listing import LEVEL_NAMES, instruction_text
from warpwatt.render.report.columns import DIGITS, ENERGY, LONGEST, TIME

if TYPE_CHECKING:
    from warpwatt.render.context import Context

MOST_ROWS = 6000
"""Instructions of a side; longer programs are not aligned."""
CLOSE = 250_000
"""Pairs of instructions up to which any two that look alike may be one; beyond, only those of one line."""
_NAMES = re.compile(r"(?<![\w.])(?:UR|UP|R|P|B)\d+\b|%\w+|\$?L_{1,2}\w+|`\([^)]*\)")
"""Registers, predicates and labels: what compilers name anew."""

Pair = tuple[int | None, int | None, LineStatus]
"""A row of either side, None where it has none, and what became of it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of one side: its number, text, and what it costs by kind of heat, of the larger whole."""

    number: str
    text: str
    costs: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Diff:
    """Two listings of equally many rows."""

    name: str
    title: str
    pairs: tuple[Pair, ...]
    old: tuple[Row, ...]
    new: tuple[Row, ...]

    @property
    def changed(self) -> int:
        """Rows that are not the same on both sides."""
        return sum(status is not LineStatus.SAME for *_, status in self.pairs)

    @property
    def heats(self) -> tuple[str, ...]:
        """The kinds of heat."""
        found = dict.fromkeys(name for row in (*self.old, *self.new) for name in row.costs)
        return tuple(sorted(found, key=lambda name: (name != TIME, name != ENERGY)))

    def document(self) -> list[dict[str, Any]]:
        """Return both sides as the page's script reads them."""
        return [self._side(self.old, 0), self._side(self.new, 1)]

    def _side(self, rows: Sequence[Row], place: int) -> dict[str, Any]:
        shown = [rows[at] if (at := pair[:2][place]) is not None else None for pair in self.pairs]
        heats: dict[str, tuple[list[int], list[float]]] = {name: ([], []) for name in self.heats}
        for number, row in enumerate(shown):
            for name, share in row.costs.items() if row else ():
                heats[name][0].append(number)
                heats[name][1].append(float(f"{share:.{DIGITS}g}"))
        return {
            "text": {
                "title": ("old", "new")[place],
                "numbers": [row.number if row else "" for row in shown],
                "texts": [row.text[:LONGEST] if row else "" for row in shown],
                "keys": [str(number) for number in range(len(shown))],
                "kinds": {},
                "marks": {n: mark for n, pair in enumerate(self.pairs) if (mark := _mark(pair, place))},
            },
            "heats": heats,
        }


def _mark(pair: Pair, place: int) -> str:
    """Return what is said of one side of a row; nothing where both are the same."""
    if pair[place] is None:
        return "absent"
    if pair[2] in (LineStatus.SAME, LineStatus.CHANGED):
        return "" if pair[2] is LineStatus.SAME else "changed"
    return ("removed", "added")[place]


def diffs(old: Prediction, new: Prediction, context: Context) -> tuple[Diff, ...]:
    """Return the source and the analysed program of both sides, as far as both have them."""
    weights = {
        TIME: _weights(old.time.value, new.time.value),
        ENERGY: _weights(old.energy.value, new.energy.value),
    }
    passages = _passages(old, new, context)
    found = (_source_diff(old, new, passages, weights), _program_diff(old, new, passages, weights))
    return tuple(one for one in found if one is not None)


def _weights(old: float, new: float) -> tuple[float, float]:
    """Return what a share of either side is of the larger whole."""
    whole = max(old, new)
    return (old / whole, new / whole) if whole > 0 else (0.0, 0.0)


Weights = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Passage:
    """The lines of one side's file from the first to the last that costs something, and some around them."""

    file: str
    numbers: range
    lines: tuple[str, ...]


def _passages(old: Prediction, new: Prediction, context: Context) -> tuple[_Passage, _Passage] | None:
    """Return both sides' lines, None where a text is not known; of two kernels of a file only their own."""
    files = _main_file(old), _main_file(new)
    if not all(file in context.sources for file in files):
        return None
    around = 0 if files[0] == files[1] and old.kernel_name != new.kernel_name else AROUND
    passages = []
    for side, file in zip((old, new), files, strict=True):
        text = context.sources[file].splitlines()
        costly = [line.line for line in side.lines if line.file == file]
        numbers = range(max(1, min(costly) - around), min(len(text), max(costly) + around) + 1)
        passages.append(_Passage(file, numbers, tuple(text[n - 1] for n in numbers)))
    return passages[0], passages[1]


def _source_diff(
    old: Prediction, new: Prediction, passages: tuple[_Passage, _Passage] | None, weights: Weights
) -> Diff | None:
    if passages is None:
        return None
    rows = [
        tuple(_source_rows(side, passage, weights, place))
        for place, (side, passage) in enumerate(zip((old, new), passages, strict=True))
    ]
    matches = {i - 1: (j - 1, status) for i, j, status in match_lines(*(one.lines for one in passages))}
    title = " → ".join(dict.fromkeys(plain(one.file.rpartition("/")[2]) for one in passages))
    pairs = _aligned(matches, len(rows[0]), len(rows[1]))
    return Diff("source", f"Source: {title}", tuple(pairs), rows[0], rows[1])


def _main_file(prediction: Prediction) -> str:
    """Return the file whose lines take most of the time; empty where no line is known."""
    shares: dict[str, float] = {}
    for line in prediction.lines:
        shares[line.file] = shares.get(line.file, 0.0) + line.time_share
    return max(shares, key=shares.__getitem__, default="")


def _source_rows(side: Prediction, passage: _Passage, weights: Weights, place: int) -> Iterator[Row]:
    costs = {line.line: line for line in side.lines if line.file == passage.file}
    for number, text in zip(passage.numbers, passage.lines, strict=True):
        cost = costs.get(number)
        shares = {TIME: cost.time_share, ENERGY: cost.energy_share} if cost else {}
        heat = {name: share * weights[name][place] for name, share in shares.items() if share > 0}
        yield Row(str(number), plain(text), heat)


def _program_diff(
    old: Prediction, new: Prediction, passages: tuple[_Passage, _Passage] | None, weights: Weights
) -> Diff | None:
    programs = old.case.workload.execution.program, new.case.workload.execution.program
    if programs[0].level is not programs[1].level or max(len(p.instructions) for p in programs) > MOST_ROWS:
        return None
    texts = [[instruction_text(i, p.level) for i in p.instructions] for p in programs]
    shapes = [[_NAMES.sub("_", text) for text in side] for side in texts]
    keys: list[list[tuple[str, int | None]]] = [[(shape, None) for shape in side] for side in shapes]
    if len(texts[0]) * len(texts[1]) > CLOSE:
        lines = _line_number, _same_lines(passages)
        keys = [
            [(shape, line(i)) for shape, i in zip(side, program.instructions, strict=True)]
            for side, program, line in zip(shapes, programs, lines, strict=True)
        ]
    blocks = SequenceMatcher(a=keys[0], b=keys[1], autojunk=False)
    matches = {
        block.a + k: (block.b + k, LineStatus.SAME)
        for block in blocks.get_matching_blocks()
        for k in range(block.size)
    }
    rows = tuple(
        tuple(_instruction_rows(side, program, texts[i], weights, i))
        for i, (side, program) in enumerate(zip((old, new), programs, strict=True))
    )
    targets = " → ".join(dict.fromkeys(program.target for program in programs))
    title = f"{LEVEL_NAMES[programs[0].level]} for {targets}"
    pairs = _aligned(matches, len(texts[0]), len(texts[1]), _alike(*texts))
    return Diff("program", title, tuple(pairs), *rows)


def _line_number(instruction: Instruction) -> int | None:
    return instruction.line.line if instruction.line is not None else None


def _same_lines(passages: tuple[_Passage, _Passage] | None) -> Callable[[Instruction], int | None]:
    """Return a function from an instruction of the new side to its line's number on the old one."""
    if passages is None:
        return _line_number
    old, new = passages
    matches = match_lines(old.lines, new.lines)
    places = {new.numbers[j - 1]: old.numbers[i - 1] for i, j, _ in matches}

    def line_of(instruction: Instruction) -> int | None:
        number = _line_number(instruction)
        return None if number is None else places.get(number, -number)

    return line_of


def _instruction_rows(
    side: Prediction, program: Program, texts: Sequence[str], weights: Weights, place: int
) -> Iterator[Row]:
    shares = {TIME: side.timing.shares, ENERGY: side.power_result.shares}
    for instruction, text in zip(program.instructions, texts, strict=True):
        index = instruction.index
        costs = {
            name: own[index] * weights[name][place]
            for name, own in shares.items()
            if index < len(own) and own[index] > 0
        }
        yield Row(str(index), plain(text), costs)


def _alike(old: Sequence[str], new: Sequence[str]) -> Callable[[int, int], bool]:
    """Return whether two instructions in one place are one that changed: the opcode without its modifiers."""

    def opcode(text: str) -> str:
        word = text.split(maxsplit=2)[1] if text.startswith("@") else text.split(maxsplit=1)[0]
        return word.partition(".")[0]

    return lambda i, j: opcode(old[i]) == opcode(new[j])


def _aligned(
    matches: Mapping[int, tuple[int, LineStatus]],
    old: int,
    new: int,
    alike: Callable[[int, int], bool] = lambda *_: False,
) -> Iterator[Pair]:
    """Yield every row of both sides once, in order; what has no match stands beside what replaced it.

    >>> [(i, j, str(status)) for i, j, status in _aligned({0: (0, LineStatus.SAME)}, 2, 3)]
    [(0, 0, 'same'), (1, 1, 'removed'), (None, 2, 'added')]
    """
    anchors = [(i, j, s) for i, (j, s) in sorted(matches.items()) if s is not LineStatus.MOVED]
    i = j = 0
    for to_i, to_j, status in [*anchors, (old, new, LineStatus.SAME)]:
        if to_j < j:
            continue
        for left, right in zip_longest(range(i, to_i), range(j, to_j)):
            if left is not None and right is not None and alike(left, right):
                yield left, right, LineStatus.CHANGED
            else:
                yield left, right, LineStatus.ADDED if left is None else LineStatus.REMOVED
        if to_i < old and to_j < new:
            yield to_i, to_j, status
        i, j = to_i + 1, to_j + 1
