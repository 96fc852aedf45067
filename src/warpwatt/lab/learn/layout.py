"""Known layouts of public data sets: what their columns mean, and which program a row is a launch of.

Both are data, in ``layouts.toml`` and ``programs.toml`` (spellings and variants brought together).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from warpwatt.lab.learn.errors import UnknownLayoutError


@dataclass(frozen=True, slots=True)
class Target:
    """Where a measured quantity stands: a column, and the factor to SI units."""

    column: str
    scale: float
    unit: str


@dataclass(frozen=True, slots=True)
class Mislabelled:
    """Rows whose label is known to be wrong: ``column`` below a bound where another column has one value."""

    column: str
    below: float
    where: str
    equals: float

    @property
    def reason(self) -> str:
        """Return why such a row is left out."""
        return f"{self.column} below {self.below:g} was not applied as labelled"

    def matches(self, numbers: Mapping[str, float]) -> bool:
        """Return whether a row is one of them."""
        return numbers.get(self.where) == self.equals and numbers.get(self.column, self.below) < self.below


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of a data set mean.

    ``program`` is the column by which to split, ``kernel`` the one to name rows by. ``features`` are those
    of the published study. ``zero_where_absent`` are columns in which a missing number means that there was
    nothing to average over. ``never_negative`` columns hold counts: a negative one is an overflow, no
    number. ``mislabelled`` are rows whose labels are known to be wrong. ``gpu`` is the column of the GPU;
    ``convention`` that of the program features, ``thesis`` or ``published``, or the column that says which;
    ``dwarf`` that of the class of each row's program.
    """

    name: str
    title: str
    source: str
    recognised_by: frozenset[str]
    program: str
    kernel: str
    texts: frozenset[str]
    targets: Mapping[str, Target]
    features: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    serial: frozenset[str] = frozenset()
    zero_where_absent: frozenset[str] = frozenset()
    never_negative: frozenset[str] = frozenset()
    mislabelled: tuple[Mislabelled, ...] = ()
    aliases: str = ""
    gpu: str = ""
    convention: str = ""
    dwarf: str = ""

    def canonical(self, column: str) -> str:
        """Return a column's canonical name: lower case, underscores, the set's own spellings replaced.

        >>> [layout("alavani_power").canonical(name) for name in ("comp_inst_sim", "Total Threads")]
        ['comp_inst_sm', 'total_threads']
        """
        name = snake_case(column)
        return self.renamed.get(name, name)


def snake_case(column: str) -> str:
    """Return a column's name in lower case with underscores.

    >>> snake_case(" Kernel Name"), snake_case("time/ms"), snake_case("l2_tex_write_throughput.1")
    ('kernel_name', 'time_ms', 'l2_tex_write_throughput_1')
    """
    return "_".join("".join(c if c.isalnum() else " " for c in column.lower()).split())


@lru_cache(maxsize=1)
def layouts() -> Mapping[str, Layout]:
    """Return all known layouts by name."""
    data = tomllib.loads((files("warpwatt.lab.learn") / "layouts.toml").read_text(encoding="utf-8"))
    return {name: _layout(name, entry) for name, entry in data.items()}


def layout(name: str) -> Layout:
    """Return one layout.

    Raises
    ------
    UnknownLayoutError
        If there is none of that name.
    """
    known = layouts()
    if name not in known:
        raise UnknownLayoutError(f"no layout {name!r}", hint=f"known: {', '.join(known)}")
    return known[name]


def recognise(header: Sequence[str], path: Path) -> Layout:
    """Return the known layout whose columns a file has, the most telling first.

    Raises
    ------
    UnknownLayoutError
        If there is none; ``hint`` names the options that describe a table of one's own.
    """
    for one in sorted(layouts().values(), key=lambda each: -len(each.recognised_by)):
        if one.recognised_by <= {one.canonical(text) for text in header}:
            return one
    shown = ", ".join(text for text in header if text.strip())
    hint = f"--program-column, --target-column and --features describe it; its columns: {shown}"
    raise UnknownLayoutError("no known layout has these columns", file=path, line=1, hint=hint)


def user_layout(
    program: str, targets: Mapping[str, Target], features: Sequence[str], dwarf: str = ""
) -> Layout:
    """Return the layout of a table of one's own, from what the user named."""
    return Layout(
        name="own",
        title="a table of one's own",
        source="",
        recognised_by=frozenset(),
        program=snake_case(program),
        kernel=snake_case(program),
        texts=frozenset(snake_case(name) for name in (program, dwarf) if name),
        dwarf=snake_case(dwarf),
        targets={name: Target(snake_case(t.column), t.scale, t.unit) for name, t in targets.items()},
        features=tuple(map(snake_case, features)),
    )


def _layout(name: str, entry: Mapping[str, Any]) -> Layout:
    sets = ("recognised_by", "texts", "serial", "zero_where_absent", "never_negative")
    fields: dict[str, Any] = {**entry, **{key: frozenset(entry.get(key, ())) for key in sets}}
    fields["targets"] = {key: Target(**value) for key, value in entry["targets"].items()}
    fields["features"] = tuple(entry["features"])
    fields["mislabelled"] = tuple(Mislabelled(**rule) for rule in entry.get("mislabelled", ()))
    return Layout(name=name, **fields)


BEFORE_SUFFIX = "before .py"
"""Rule of data sets whose rows are named after a script and its settings: the script is the program."""


def program_of(name: str, aliases: str) -> str:
    """Return the program of a row under a data set's rule.

    >>> [program_of(name, "alavani") for name in ("Breadth First Search", "SUM", "Pi")]
    ['bfs', 'sum', 'pi']
    >>> program_of("19_ReLU.py_variable_multiplier_0.8", BEFORE_SUFFIX)
    '19_ReLU'
    """
    if aliases == BEFORE_SUFFIX:
        return name.partition(".py")[0]
    if not aliases:
        return name
    spelled = " ".join(name.lower().split())
    return _spellings(aliases).get(spelled, spelled)


def dwarf_of(program: str, aliases: str) -> str:
    """Return a program's dwarf (thesis Table 4.7), empty where the table has none.

    >>> dwarf_of("needleman-wunsch", "alavani")
    'dynamic programming'
    """
    entry = _programs().get(aliases, {}).get(program, {})
    return str(entry.get("dwarf", ""))


@lru_cache(maxsize=1)
def _programs() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    return tomllib.loads((files("warpwatt.lab.learn") / "programs.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=4)
def _spellings(aliases: str) -> Mapping[str, str]:
    entries = _programs().get(aliases, {})
    return {str(name): program for program, entry in entries.items() for name in entry["names"]}
