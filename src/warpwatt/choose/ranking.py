"""Configurations of an autotuner ranked by prediction: which are worth running, and why the others are not.

A :class:`Candidate` is a configuration and what was predicted of it, a :class:`Ranking` all of them with a
decision each. A configuration that could not be predicted is never pruned: nothing is known against it.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpwatt.core.errors import CompileError, InputError, LaunchError, WarpWattError
from warpwatt.core.objective import Objective
from warpwatt.core.prediction import Prediction
from warpwatt.core.warps import Stall

OBJECTIVES = tuple(Objective)
"""What may be made small: seconds, joules, joules times seconds."""
SHOWN_STALLS = 2
TOO_MUCH = "uses too much"
"""What ptxas says where a block needs more shared memory than there is."""
LOWER = 0.75
"""Occupancy below this share of the best candidate's counts as a cause."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One configuration and what was predicted of it; SI units, None where ``error`` says why.

    Attributes
    ----------
    stalls
        Nsight's names to shares of warp time, largest first, without issuing.
    limiter
        What limits the occupancy.
    local
        Bytes per thread of local memory: spilled registers, stack.
    impossible
        Whether the GPU would refuse the launch; then ``error`` says what it asks too much of.
    """

    parameters: Mapping[str, object]
    time: float | None = None
    power: float | None = None
    energy: float | None = None
    limited_by: str = ""
    stalls: Mapping[str, float] = field(default_factory=dict)
    occupancy: float | None = None
    limiter: str = ""
    registers: int | None = None
    local: int = 0
    error: str = ""
    impossible: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, object], prediction: Prediction) -> Candidate:
        """Return what a prediction says of a configuration."""
        held, resources = prediction.case.workload.occupancy, prediction.case.kernel.resources
        waits = {str(s): x for s, x in prediction.timing.stalls.items() if s is not Stall.SELECTED}
        return cls(
            parameters,
            prediction.time.value,
            prediction.power.value,
            prediction.energy.value,
            prediction.timing.bottleneck,
            dict(sorted(waits.items(), key=lambda pair: -pair[1])),
            held.theoretical,
            held.limiter,
            resources.registers,
            max(resources.local, resources.spill_stores),
        )

    @classmethod
    def failed(cls, parameters: Mapping[str, object], error: Exception) -> Candidate:
        """Return a configuration without prediction: the GPU refuses it, or nothing is known of it."""
        text = str(error) if isinstance(error, WarpWattError) else f"internal error: {error!r}"
        refused = isinstance(error, LaunchError) or (isinstance(error, CompileError) and TOO_MUCH in text)
        return cls(parameters, error=" ".join(text.split()), impossible=refused)

    def objective(self, name: str) -> float:
        """Return what it is judged by: ``time``, ``energy`` or ``edp``; infinite where nothing is known.

        >>> Candidate({}, time=2.0, energy=3.0).objective("edp"), Candidate({}).objective("time")
        (6.0, inf)
        """
        if self.time is None or self.energy is None:
            return math.inf
        return {"time": self.time, "energy": self.energy, "edp": self.time * self.energy}[name]

    @property
    def name(self) -> str:
        """The parameters as one would say them.

        >>> Candidate({"block_size_x": 32, "tile": 2}).name
        'block_size_x=32 tile=2'
        """
        return " ".join(f"{name}={value}" for name, value in self.parameters.items())


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a candidate is run; ``ratio`` is its objective over the best candidate's."""

    candidate: Candidate
    kept: bool
    ratio: float
    cause: str
    """In a word, for counting: what limits it, or what the launch asks too much of."""
    reason: str
    """In full."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every candidate with its decision, best prediction first."""

    objective: str
    decisions: tuple[Decision, ...]

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """Candidates worth running, best first; those without a prediction last."""
        return tuple(d.candidate for d in self.decisions if d.kept)

    @property
    def pruned(self) -> tuple[Candidate, ...]:
        """Candidates that are not run, best first."""
        return tuple(d.candidate for d in self.decisions if not d.kept)

    def causes(self) -> dict[str, int]:
        """Return how many candidates were pruned for each cause, commonest first."""
        return dict(Counter(d.cause for d in self.decisions if not d.kept).most_common())

    def __str__(self) -> str:
        """Return what was kept and pruned, and why, in a few lines."""
        if not self.decisions:
            return "no configurations"
        best, unknown = self.decisions[0], sum(1 for c in self.kept if c.time is None)
        numbers = f"{len(self.kept)} to run, {len(self.pruned)} pruned"
        lines = [f"{len(self.decisions)} configurations ranked by predicted {self.objective}: {numbers}"]
        if best.candidate.time is not None:
            lines.append(f"  best predicted: {best.candidate.name} ({best.reason})")
        lines += [f"  pruned {count:>6}  {cause}" for cause, count in self.causes().items()]
        if unknown:
            lines.append(f"  not predicted, so kept: {unknown}")
        return "\n".join(lines)

    def save(self, path: Path) -> None:
        """Write one CSV line per configuration: parameters, prediction, decision, reason.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        try:
            path.write_text(self.csv(), encoding="utf-8", newline="")
        except OSError as error:
            raise InputError(f"cannot write it: {error.strerror}", file=path) from None

    def csv(self) -> str:
        """Return what :meth:`save` writes."""
        buffer = io.StringIO()
        names = dict.fromkeys(name for d in self.decisions for name in d.candidate.parameters)
        writer = csv.DictWriter(buffer, [*names, *COLUMNS], lineterminator="\n")
        writer.writeheader()
        for rank, decision in enumerate(self.decisions, start=1):
            writer.writerow({**decision.candidate.parameters, **_row(rank, decision)})
        return buffer.getvalue()


COLUMNS = (
    *("rank", "decision", "ratio", "time_s", "power_w", "energy_j", "limited_by", "occupancy"),
    *("occupancy_limiter", "registers", "local_bytes", "reason"),
)
"""Columns of the CSV after the parameters."""


def rank(
    candidates: Iterable[Candidate],
    objective: str = "time",
    *,
    keep: float | None = None,
    within: float | None = None,
) -> Ranking:
    """Return the candidates ranked, and decided upon.

    Parameters
    ----------
    objective
        ``time``, ``energy`` or ``edp``.
    keep
        How many to run: a share of all below 1 (rounded up), else a number. None: no limit.
    within
        Run only those predicted within this factor of the best. None: no limit.

    Raises
    ------
    InputError
        If there is no such objective, or ``keep`` or ``within`` is out of range.

    >>> three = [Candidate({"t": t}, time=t, energy=t, limited_by="LSU") for t in (3.0, 1.0, 2.0)]
    >>> found = rank(three, keep=1)
    >>> [c.name for c in found.kept], found.causes()
    (['t=1.0'], {'LSU': 2})
    """
    if objective not in OBJECTIVES:
        raise InputError(f"no objective {objective!r}", hint=f"objectives: {' '.join(OBJECTIVES)}")
    if keep is not None and not 0 < keep < math.inf:
        raise InputError(f"cannot keep {keep}", hint="keep a share up to 1.0, or a number")
    if within is not None and not within >= 1:
        raise InputError(f"nothing is within {within} of the best", hint="give a factor of at least 1")
    everything = list(candidates)
    known = sorted((c for c in everything if c.time is not None), key=lambda c: c.objective(objective))
    unknown = [c for c in everything if c.time is None and not c.impossible]
    impossible = [c for c in everything if c.impossible]
    allowed = len(known) if keep is None else _number(keep, len(everything))
    decisions = _decided(known, objective, allowed, math.inf if within is None else within)
    return Ranking(
        objective,
        (
            *decisions,
            *(Decision(c, True, math.nan, "not predicted", f"not predicted: {c.error}") for c in unknown),
            *(Decision(c, False, math.inf, "cannot launch", f"cannot launch: {c.error}") for c in impossible),
        ),
    )


def _number(keep: float, whole: int) -> int:
    """Return how many may be kept, at least one.

    >>> _number(0.05, 30), _number(7, 30), _number(1.0, 30), _number(1, 30)
    (2, 7, 30, 1)
    """
    if isinstance(keep, float) and keep <= 1:
        return max(1, math.ceil(keep * whole))
    return max(1, int(keep))


def _decided(known: Sequence[Candidate], objective: str, allowed: int, within: float) -> list[Decision]:
    """Return the decisions about candidates in rank order."""
    found = []
    for place, candidate in enumerate(known):
        ratio = candidate.objective(objective) / known[0].objective(objective)
        kept = place == 0 or (place < allowed and ratio <= within)
        found.append(
            Decision(candidate, kept, ratio, _cause(candidate, known[0]), _reason(candidate, ratio, known[0]))
        )
    return found


def _cause(candidate: Candidate, best: Candidate) -> str:
    """Return in a word what holds a candidate back beside the best."""
    if candidate.local > best.local:
        return "local memory: spilled registers or a stack"
    waits = candidate.limited_by.startswith("latency")
    if waits and (candidate.occupancy or 0) < LOWER * (best.occupancy or 0):
        return f"too few warps to hide latency, limited by {candidate.limiter}"
    return candidate.limited_by


def _reason(candidate: Candidate, ratio: float, best: Candidate) -> str:
    parts = [] if candidate is best else [f"{ratio:.2f} times the best"]
    cause = _cause(candidate, best)
    parts += [cause] if cause != candidate.limited_by else []
    parts.append(f"limited by {candidate.limited_by}")
    waits = list(candidate.stalls.items())[:SHOWN_STALLS]
    parts += [f"{stall} {share:.0%}" for stall, share in waits if share > 0.1]
    if candidate.occupancy is not None:
        parts.append(f"occupancy {candidate.occupancy:.0%}")
    parts += [f"{candidate.local} bytes of local memory"] if candidate.local else []
    return "; ".join(parts)


def _row(rank: int, decision: Decision) -> dict[str, object]:
    c = decision.candidate
    ratio = f"{decision.ratio:.4g}" if math.isfinite(decision.ratio) else ""
    values = (c.time, c.power, c.energy, c.limited_by, c.occupancy, c.limiter, c.registers, c.local)
    told = ("" if c.time is None else value for value in values)
    return dict(
        zip(COLUMNS, (rank, "run" if decision.kept else "pruned", ratio, *told, decision.reason), strict=True)
    )
