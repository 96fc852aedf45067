"""Source, PTX and SASS beside each other: rows that know which source lines they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.program import Instruction, Level, Program, SourceLine
from warpwatt.render.console import plain
from warpwatt.render.listing import LEVEL_NAMES, instruction_text, labels_at

if TYPE_CHECKING:
    from warpwatt.render.context import Context

AROUND = 5
"""Source lines shown before and after a line that costs something."""


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One row of a listing.

    ``keys`` names the source lines it belongs to (``f0-14``), the innermost first, then the call sites it
    was inlined into; empty for labels and gaps. ``cost`` is that of a source line, ``index`` that of an
    instruction in its program.
    """

    number: str
    text: str
    keys: str = ""
    kind: str = "code"
    """``"code"``, ``"label"``, ``"file"`` or ``"gap"``."""
    cost: LineCost | None = None
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One column: its title and rows; ``program`` is None for the source."""

    title: str
    rows: tuple[CodeRow, ...]
    program: Program | None = None


def listings(prediction: Prediction, context: Context) -> list[Listing]:
    """Return the columns there are: source, the analysed program, the kernel's other one."""
    kernel, analysed = prediction.case.kernel, prediction.case.workload.execution.program
    others = (p for p in (kernel.ptx, kernel.sass) if p is not None and p.level is not analysed.level)
    programs = [analysed, *others]
    files = _files(prediction, programs)
    columns = [source_listing(prediction.lines, files, context)] if prediction.lines else []
    return [*columns, *(program_listing(program, files) for program in programs)]


def _files(prediction: Prediction, programs: Sequence[Program]) -> dict[str, int]:
    """Return a number per source file, in order of appearance."""
    names = [line.file for line in prediction.lines]
    names += [i.line.file for program in programs for i in program.instructions if i.line is not None]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def source_listing(lines: Sequence[LineCost], files: Mapping[str, int], context: Context) -> Listing:
    """Return the source column: every costly line with some context where the file's text is known."""
    rows: list[CodeRow] = []
    names = list(dict.fromkeys(line.file for line in lines))
    short = short_names(names)
    for name in names:
        if len(names) > 1:
            rows.append(CodeRow("", plain(short[name]), kind="file"))
        costs = {line.line: line for line in lines if line.file == name}
        texts = context.sources.get(name, "").splitlines()
        rows += _source_rows(costs, texts, f"f{files[name]}")
    title = f"Source: {plain(short[names[0]])}" if len(names) == 1 else "Source"
    return Listing(title, tuple(rows))


def short_names(files: Sequence[str]) -> dict[str, str]:
    """Return each file's last component, or its whole name where two files share that.

    >>> short_names(["/home/a/x.cu", "/home/b/y.h", "/opt/b/y.h"])
    {'/home/a/x.cu': 'x.cu', '/home/b/y.h': '/home/b/y.h', '/opt/b/y.h': '/opt/b/y.h'}
    """
    last = {name: name.replace("\\", "/").rstrip("/").rpartition("/")[2] for name in files}
    taken = list(last.values())
    return {name: short if taken.count(short) == 1 else name for name, short in last.items()}


def _source_rows(costs: Mapping[int, LineCost], texts: Sequence[str], file: str) -> Iterator[CodeRow]:
    last = 0
    for number in shown_lines(set(costs), len(texts)):
        if number > last + 1:
            yield CodeRow("", "⋯", kind="gap")
        last = number
        text = texts[number - 1] if number <= len(texts) else costs[number].text
        yield _source_row(number, text, f"{file}-{number}", costs.get(number))


def shown_lines(costly: set[int], total: int, around: int = AROUND) -> list[int]:
    """Return the line numbers to show: the costly ones and, in a file of ``total`` lines, those around them.

    A gap as short as the row that would say so is shown instead.

    >>> shown_lines({2}, 4), shown_lines({7, 9}, 0), shown_lines({7}, 8)
    ([1, 2, 3, 4], [7, 9], [1, 2, 3, 4, 5, 6, 7, 8])
    """
    near = {n for line in costly for n in range(line - around, line + around + 1) if 1 <= n <= total}
    shown = costly | near
    return sorted(n for n in shown | set(range(1, total + 1)) if n in shown or _lone(n, shown, total))


def _lone(number: int, shown: set[int], total: int) -> bool:
    """Return whether hiding this one line would take as much room as showing it."""
    return (number == 1 or number - 1 in shown) and (number == total or number + 1 in shown)


def _source_row(number: int, text: str, key: str, cost: LineCost | None) -> CodeRow:
    return CodeRow(str(number), plain(text), key, cost=cost)


def program_listing(program: Program, files: Mapping[str, int]) -> Listing:
    """Return the column of one program, labels on rows of their own."""
    at = labels_at(program)
    rows: list[CodeRow] = []
    for instruction in program.instructions:
        rows += [CodeRow("", f"{plain(label)}:", kind="label") for label in at.get(instruction.index, ())]
        rows.append(_instruction_row(instruction, program.level, files))
    return Listing(f"{LEVEL_NAMES[program.level]} for {program.target}", tuple(rows), program)


def _instruction_row(instruction: Instruction, level: Level, files: Mapping[str, int]) -> CodeRow:
    keys = " ".join(line_keys(instruction.line, files))
    text = plain(instruction_text(instruction, level))
    return CodeRow(str(instruction.index), text, keys, index=instruction.index)


def line_keys(line: SourceLine | None, files: Mapping[str, int]) -> list[str]:
    """Return the keys of a line and of the call sites it was inlined into, innermost first."""
    keys: list[str] = []
    while line is not None:
        if line.file in files:
            keys.append(f"f{files[line.file]}-{line.line}")
        line = line.inlined_at
    return keys
