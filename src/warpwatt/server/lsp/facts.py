"""What the analysing process tells the server: plain values, lines of the document counted from 1."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from warpwatt.request.launch_text import LaunchText


@dataclass(frozen=True, slots=True)
class Query:
    """How to analyse: what a configuration says, as the command line's options of these names."""

    gpu: str = "h200"
    define: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    """Absolute folders."""
    flags: tuple[str, ...] = ()
    toolkit: str = ""
    maxrregcount: int | None = None
    model: tuple[str, ...] = ()
    clock: str | None = None
    power_limit: str | None = None
    level: str | None = None
    advice: bool = True
    """Whether to find out, after the answer, what changes to the kernels would save."""
    beside: tuple[str, ...] = ()
    """Other models whose answers stand beside: ``time=NAME``, ``power=NAME``."""


@dataclass(frozen=True, slots=True)
class PlacedLaunch(LaunchText):
    """A launch and where it is written: ``line`` of the document, None where ``file`` describes it."""

    line: int | None = None
    file: str = ""

    @classmethod
    def at(cls, launch: LaunchText, *, line: int | None = None, file: str = "") -> PlacedLaunch:
        """Return a launch that stands there."""
        return cls(**{f.name: getattr(launch, f.name) for f in fields(launch)}, line=line, file=file)


@dataclass(frozen=True, slots=True)
class Related:
    """A line of the document that has to do with a remark, and what."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something wrong or worth knowing at a line; ``code`` names its kind (see ``codes``)."""

    code: str
    line: int
    text: str
    share: float = 1.0
    """Of the kernel's time that the line takes."""
    related: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class LineFact:
    """One source line of one prediction: shares of time and energy, and what there is to say of it."""

    line: int
    time_share: float
    energy_share: float
    stalls: str = ""
    accesses: tuple[str, ...] = ()
    waits: tuple[Related, ...] = ()
    """Lines whose results it waits for."""


@dataclass(frozen=True, slots=True)
class AdviceFact:
    """A change to the kernel and what it would save; ``line`` None if it concerns the whole kernel."""

    text: str
    share: float
    energy_share: float
    fix: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OtherFact:
    """What another model says: its choice as written, its time or power, or why it says nothing."""

    model: str
    text: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """One launch on one GPU. SI units; ``*_text`` with intervals, as people read them."""

    kernel: str
    """Plain name, as in the source."""
    demangled: str
    gpu: str
    launch: str
    """Grid and block: ``"64×64 × 16×16"``."""
    time: float
    power: float
    energy: float
    time_text: str
    power_text: str
    energy_text: str
    bottleneck: str
    occupancy: str
    registers: int
    clocks: str
    limited_by_power: bool
    lines: tuple[LineFact, ...]
    remarks: tuple[Remark, ...]
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    advice: tuple[AdviceFact, ...] | None = None
    """None: nobody has found out yet."""
    beside: tuple[OtherFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """Facts of one launch (an index into :attr:`Answer.launches`)."""

    launch: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class Problem:
    """What kept something from being predicted. ``file`` is empty for the document itself."""

    code: str
    text: str
    line: int | None = None
    file: str = ""
    hint: str = ""
    details: str = ""
    severity: str = "error"
    """``"error"``, ``"warning"`` or ``"information"``."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one text; ``timings`` are seconds by stage, for who wants to know."""

    launches: tuple[PlacedLaunch, ...] = ()
    shown: tuple[Shown, ...] = ()
    problems: tuple[Problem, ...] = ()
    complete: bool = True
    """False while launches are still being predicted."""
    advised: bool = False
    timings: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """Work for the analysing process; with ``report``, a folder, a page is rendered there instead."""

    number: int
    path: str
    text: str
    query: Query
    launches: tuple[PlacedLaunch, ...] = ()
    report: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a job is doing, and how much of it is done, 0 to 1."""

    number: int
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class Result:
    """An answer to a job, perhaps not its last."""

    number: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class Page:
    """A rendered report: the file it lies in, or what kept it from being made."""

    number: int
    file: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a job."""

    number: int


Message = Progress | Result | Page | Done
