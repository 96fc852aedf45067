"""What a user may ask of a prediction: one table, from which every place where users ask is made.

Options of the command line (:mod:`warpwatt.commands.options`), axes of a sweep, keys of TOML and JSON files
and of the editor's settings, and the two sides of a comparison all read it; tests hold what must be written
out by hand (``warpwatt.api.Options``, the editor's ``package.json``, the page's JSON schema) equal to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from warpwatt.core.launch import L2State
from warpwatt.core.program import Level, Unknown


class Group(StrEnum):
    """Which value a field is part of, see :mod:`~warpwatt.request.options`."""

    LAUNCH = auto()
    COMPILATION = auto()
    MODELS = auto()


class Kind(Enum):
    """What a value looks like."""

    TEXT = auto()
    DIMENSIONS = auto()
    """``X[,Y[,Z]]``; in files and Python also a number or a sequence."""
    NUMBER = auto()
    PAIRS = auto()
    """``NAME=VALUE`` texts, repeated; in files and Python a table."""
    TEXTS = auto()
    FILE = auto()
    CHOICE = auto()
    REST = auto()
    """What stands behind ``--``."""


@dataclass(frozen=True, slots=True)
class Axis:
    """How a sweep writes several values of a field, where that differs from one value."""

    metavar: str
    help: str
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to say: ``name`` in Python values, ``key`` in files and keywords (empty: in none)."""

    name: str
    group: Group
    kind: Kind
    help: str = ""
    metavar: str | None = None
    key: str = ""
    flag: str = ""
    """A short option in front of the name; empty: ``--name`` alone."""
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None
    axis: Axis | None = None
    paired: bool = False
    """Whether a comparison takes ``OLD/NEW``."""

    @property
    def repeated(self) -> bool:
        """Whether it may be said several times."""
        return self.kind in (Kind.PAIRS, Kind.TEXTS)


_X, _NAMES = "X[,Y[,Z]]", "NAME=VALUE"
FIELDS = (
    Field(
        "kernel", Group.LAUNCH, Kind.TEXT, "Kernel, by any unambiguous part of its name.", "NAME", "kernel",
        paired=True,
    ),
    Field(
        "grid", Group.LAUNCH, Kind.DIMENSIONS, "Blocks per grid.", _X, "grid", paired=True,
        axis=Axis(
            _X,
            "Blocks per grid; may be expressions of macros, numbers among the arguments and bx, by, bz: "
            "n/TILE (rounded up).",
        ),
    ),
    Field(
        "block", Group.LAUNCH, Kind.DIMENSIONS, "Threads per block.", _X, "block", paired=True,
        axis=Axis("X[,Y[,Z]][/...]", "Block sizes: 64/128 or 16,16/32,8.", repeated=True),
    ),
    Field("cluster", Group.LAUNCH, Kind.DIMENSIONS, "Blocks per cluster.", _X, "cluster", paired=True),
    Field(
        "shared", Group.LAUNCH, Kind.NUMBER, "Dynamic shared memory per block.", "BYTES", "shared",
        axis=Axis("BYTES", "Dynamic shared memory per block, perhaps an expression."),
    ),
    Field(
        "l2", Group.LAUNCH, Kind.CHOICE,
        "What L2 holds before: nothing (cold, the default: ncu measures so), what the same launch left "
        "(warm: in a loop), other data (previous: within an application, as nsys sees it).",
        key="l2", choices=tuple(state.value for state in L2State),
    ),
    Field(
        "arg", Group.LAUNCH, Kind.PAIRS, "n=1024, x=f32[n], y=f32[n]:zeros, 0=1024.", _NAMES, "args",
        paired=True,
        axis=Axis(
            "NAME=VALUE[/...]",
            "n=1024, x=f32[n], y=f32[n]:zeros; several values: n=1024/4096, n=1024:8192:1024, "
            "n=1024:65536:*2.",
            repeated=True,
        ),
    ),
    Field("args", Group.LAUNCH, Kind.FILE, "Launch and arguments.", "FILE.toml"),
    Field(
        "loop", Group.LAUNCH, Kind.PAIRS, "Iterations of a loop that depends on data.", "LINE=COUNT", "loops",
        paired=True,
    ),
    Field(
        "define", Group.COMPILATION, Kind.PAIRS, "Preprocessor definition.", "NAME[=VALUE]", "define",
        flag="-D", paired=True,
        axis=Axis("NAME[=V1,V2,...]", "Values of a macro; all are tried.", repeated=True),
    ),
    Field("include", Group.COMPILATION, Kind.TEXTS, "Include directory.", "DIR", "include", flag="-I"),
    Field(
        "toolkit", Group.COMPILATION, Kind.TEXT, "Compile with this CUDA release, such as 12.3.", "VERSION",
        "toolkit", paired=True,
    ),
    Field(
        "maxrregcount", Group.COMPILATION, Kind.NUMBER, "Registers per thread, at most.", "N", "maxrregcount",
        bounds=(16, 255), axis=Axis("N,...|LOW:HIGH:STEP", "Registers per thread, at most."),
    ),
    Field("flags", Group.COMPILATION, Kind.REST, metavar="[-- COMPILER_FLAGS]", key="flags"),
    Field(
        "model", Group.MODELS, Kind.TEXTS, "See `warpwatt models`; or a file of `warpwatt train`.",
        "[time=|power=]NAME|FILE", "model",
        paired=True,
    ),
    Field(
        "clock", Group.MODELS, Kind.TEXT, "MHz; default: boost within the power limit.", "SM[,MEM]", "clock",
        paired=True,
        axis=Axis(
            "SM|LOW:HIGH:STEP[,MEM...]",
            "MHz; a range ends at the boost clock, memory clocks may be several. Default: boost within the "
            "power limit.",
            repeated=True,
        ),
    ),
    Field(
        "power_limit", Group.MODELS, Kind.TEXT,
        "W that the board may draw, as its maker or nvidia-smi -pl set it; default: the data sheet's.", "W",
        "power_limit", paired=True,
    ),
    Field(
        "level", Group.MODELS, Kind.CHOICE,
        "What is analysed; default: machine code where there is any, else PTX.", key="level",
        choices=(Level.PTX.value, Level.SASS.value),
    ),
    Field(
        "unknown", Group.MODELS, Kind.CHOICE, "Instructions that the opcode tables lack.",
        choices=tuple(Unknown),
    ),
    Field(
        "profile", Group.MODELS, Kind.FILE,
        "A measured launch of the kernel (nsys, ncu, nvprof or own CSV) that corrects time and power.",
        "FILE.csv",
    ),
    Field(
        "profile_arg", Group.MODELS, Kind.PAIRS, "An argument the measured launch had, where it differs.",
        _NAMES,
    ),
)  # fmt: skip
"""In the order in which help shows them."""


def fields_of(group: Group) -> tuple[Field, ...]:
    """Return the fields of a group, in order."""
    return tuple(field for field in FIELDS if field.group is group)


def keys(*groups: Group) -> tuple[str, ...]:
    """Return the keys that files and settings may have.

    >>> keys(Group.LAUNCH)
    ('kernel', 'grid', 'block', 'cluster', 'shared', 'l2', 'args', 'loops')
    """
    return tuple(field.key for field in FIELDS if field.group in groups and field.key)
