"""What a regressor learns from: a matrix of features, one target, the program of every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.lab.learn.errors import DataError, MissingColumnError, SingleProgramError, TooFewRowsError
from warpwatt.lab.learn.layout import dwarf_of, program_of
from warpwatt.lab.learn.table import read_table

if TYPE_CHECKING:
    import numpy.typing as npt

    from warpwatt.lab.learn.layout import Layout, Target
    from warpwatt.lab.learn.table import Row, Table

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

ENERGY_UNIT = "J"
UNITS = {"power": "W", "time": "s", "energy": ENERGY_UNIT}
"""Targets that can be learned, and their units."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Rows fit to learn from.

    Attributes
    ----------
    x, y
        Features, shape (rows, features), in the data set's units; target in W, s or J, shape (rows,).
    features
        Names of the columns of ``x``.
    programs, kernels, lines
        Program and name of every row, and its line in the file.
    target, unit
        ``power``, ``time`` or ``energy``, and W, s or J.
    gpus
        GPU of every row, empty where the file does not say.
    convention
        Of the program features: ``thesis`` or ``published``; empty for other features.
    dwarfs
        Class of every row's program, "" where it is not known; empty where no row's is.
    left_out
        How many rows were left out, by reason. ``defects`` are the file's, as sentences.
    """

    x: Floats
    y: Floats
    features: tuple[str, ...]
    programs: tuple[str, ...]
    kernels: tuple[str, ...]
    lines: tuple[int, ...]
    target: str
    unit: str
    name: str
    sha256: str
    aliases: str = ""
    gpus: tuple[str, ...] = ()
    convention: str = ""
    dwarfs: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    defects: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Integers) -> Samples:
        """Return the samples of some rows, in that order."""
        chosen = [int(i) for i in rows]
        return replace(
            self,
            x=self.x[rows],
            y=self.y[rows],
            programs=tuple(self.programs[i] for i in chosen),
            kernels=tuple(self.kernels[i] for i in chosen),
            lines=tuple(self.lines[i] for i in chosen),
            gpus=tuple(self.gpus[i] for i in chosen) if self.gpus else (),
            dwarfs=tuple(self.dwarfs[i] for i in chosen) if self.dwarfs else (),
        )

    def only(self, features: Sequence[str]) -> Samples:
        """Return the samples with some of the features, in that order."""
        columns = [self.features.index(name) for name in features]
        return replace(self, x=self.x[:, columns], features=tuple(features))

    def check(self, folds: int, *, by_program: bool = False) -> None:
        """Refuse what cannot be split.

        Raises
        ------
        TooFewRowsError
            If there are fewer rows than folds.
        SingleProgramError
            If a split by program has too few programs.
        """
        if len(self) < folds:
            message = f"{len(self)} usable rows are fewer than {folds} folds"
            raise TooFewRowsError(message, file=self.name, hint=self._why())
        count = len(set(self.programs))
        if by_program and count < 2:
            message = f"every row is of one program ({self.programs[0]}): no other is left to test on"
            raise SingleProgramError(
                message, file=self.name, hint="--split rows, whose figures hold for this program only"
            )
        if by_program and count < folds:
            message = f"{count} programs are fewer than {folds} folds"
            raise SingleProgramError(message, file=self.name, hint=f"--folds {count}")

    def _why(self) -> str:
        reasons = "; ".join(f"{count} left out: {reason}" for reason, count in self.left_out.items())
        return reasons or "more measurements"


def load(
    path: Path,
    target: str = "power",
    features: Sequence[str] | None = None,
    layout: Layout | None = None,
    *,
    keep_repeated: bool = False,
) -> Samples:
    """Return a CSV file's samples.

    Parameters
    ----------
    path
        A CSV file of a known layout, or of ``layout``.
    target
        ``power``, ``time`` or ``energy`` (power × time where the file has no energy).
    features
        Columns to learn from; default: those of the published study.
    keep_repeated
        Keep rows that repeat another in every cell, as the published study did.

    Raises
    ------
    DataError
        If the file cannot be read or no row is usable.
    MissingColumnError
        If the target or a feature is not in the file.
    """
    return samples_from_table(read_table(path, layout, keep_repeated=keep_repeated), target, features)


def samples_from_table(table: Table, target: str = "power", features: Sequence[str] | None = None) -> Samples:
    """Return a table's usable rows; the others are counted by reason. See :func:`load`."""
    layout = table.layout
    columns = _targets(table, target)
    wanted = tuple(features or layout.features)
    _require(table, wanted)
    left_out = Counter[str]()
    kept: list[tuple[Row, list[float], float]] = []
    for row in table.rows:
        values = [_value(row, name, layout) for name in wanted]
        y = _target_value(row, columns)
        reason = _refusal(row, values, wanted, y, target, layout)
        if reason or y is None:
            left_out[reason] += 1
        else:
            kept.append((row, [x for x in values if x is not None], y))
    if not kept:
        hint = "; ".join(f"{n} × {why}" for why, n in left_out.most_common(5))
        raise DataError("no usable row", file=table.path, hint=hint or "the file has no rows")
    return _samples(table, target, wanted, kept, dict(left_out))


def _samples(
    table: Table,
    target: str,
    features: tuple[str, ...],
    kept: Sequence[tuple[Row, list[float], float]],
    left_out: Mapping[str, int],
) -> Samples:
    layout = table.layout
    source = layout.program if layout.program in layout.texts else layout.kernel
    programs = tuple(program_of(row.texts[source], layout.aliases) for row, _, _ in kept)
    return Samples(
        x=np.array([values for _, values, _ in kept], dtype=np.float64).reshape(len(kept), len(features)),
        y=np.array([y for _, _, y in kept], dtype=np.float64),
        features=features,
        programs=programs,
        dwarfs=_dwarfs(layout, programs, [row for row, _, _ in kept]),
        kernels=tuple(row.texts[layout.kernel] for row, _, _ in kept),
        lines=tuple(row.line for row, _, _ in kept),
        target=target,
        unit=UNITS[target],
        name=table.path.name,
        sha256=table.sha256,
        aliases=layout.aliases,
        gpus=tuple(row.texts[layout.gpu] for row, _, _ in kept) if layout.gpu else (),
        convention=_convention(table, [row for row, _, _ in kept]),
        left_out=left_out,
        defects=table.report({*features, *(t.column for t in _targets(table, target))}),
    )


def _dwarfs(layout: Layout, programs: Sequence[str], rows: Sequence[Row]) -> tuple[str, ...]:
    if layout.dwarf:
        return tuple(row.texts.get(layout.dwarf, "") for row in rows)
    found = tuple(dwarf_of(program, layout.aliases) for program in programs)
    return found if any(found) else ()


def _convention(table: Table, rows: Sequence[Row]) -> str:
    """Return the convention of the program features; several in one table cannot be learned together."""
    column = table.layout.convention
    if column not in table.layout.texts:
        return column
    found = sorted({row.texts[column] for row in rows})
    if len(found) > 1:
        message = f"features in {len(found)} conventions ({', '.join(found)}) mean different things"
        raise DataError(message, file=table.path, hint="warpwatt features --convention thesis")
    return found[0]


def _targets(table: Table, target: str) -> tuple[Target, ...]:
    """Return the target's column, or those of power and time for an energy that is not a column."""
    if target not in UNITS:
        raise DataError(f"no target {target!r}", hint=f"--target {', '.join(UNITS)}")
    known = table.layout.targets
    names = ("power", "time") if target == "energy" and "energy" not in known else (target,)
    if any(name not in known for name in names):
        hint = f"the data set has {', '.join(known)}"
        raise MissingColumnError(f"no measured {target} in this data set", file=table.path, hint=hint)
    columns = tuple(known[name] for name in names)
    _require(table, tuple(c.column for c in columns))
    return columns


def _require(table: Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.columns]
    if missing:
        hint = f"its columns: {', '.join(c for c in table.columns if c)}"
        message = f"no column {', '.join(missing)}"
        raise MissingColumnError(message, file=table.path, line=1, hint=hint)


def _value(row: Row, name: str, layout: Layout) -> float | None:
    value = row.numbers.get(name)
    if value is None and name in layout.zero_where_absent:
        return 0.0
    return value


def _target_value(row: Row, columns: Sequence[Target]) -> float | None:
    found = [row.numbers.get(c.column) for c in columns]
    values = [x * c.scale for x, c in zip(found, columns, strict=True) if x is not None]
    return float(np.prod(values)) if len(values) == len(columns) else None


def _refusal(
    row: Row,
    values: Sequence[float | None],
    names: Sequence[str],
    y: float | None,
    target: str,
    layout: Layout,
) -> str:
    """Return why a row cannot be learned from, or an empty text."""
    if y is None:
        return f"no number for {target}"
    if y <= 0:
        return f"{target} not positive"
    for name, value in zip(names, values, strict=True):
        if value is None:
            return f"{name}: {row.defects.get(name, 'no number')}"
        if value < 0 and name in layout.never_negative:
            return f"{name}: negative count (overflow)"
    return next((rule.reason for rule in layout.mislabelled if rule.matches(row.numbers)), "")
