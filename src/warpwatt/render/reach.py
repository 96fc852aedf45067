"""What each source line does to memory: its instructions put together by buffer and direction.

Several machine instructions belong to one line, and one that was inlined from another file counts for the
line that calls it. Instructions that read one buffer become one :class:`Reach`, those that write it another;
those that take more sectors or wavefronts than would do stand apart, so that an average does not hide them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from warpwatt.core.execution import AccessPattern, Execution, LevelHits, Traffic, Workload
from warpwatt.core.program import Access, Flow, SourceLine, Space
from warpwatt.render.figures import count, percent

WORTH_SAYING = 1.25
"""Ratio to the ideal above which an access pattern is mentioned."""
_DOING = {
    "read": "reading",
    "write": "writing",
    "atomic": "atomics on",
    "copy": "copying",
    "prefetch": "prefetching",
}
VERBS = {
    Access.LOAD: "read",
    Access.STORE: "write",
    Access.ATOMIC: "atomic",
    Access.REDUCTION: "atomic",
    Access.COPY: "copy",
    Access.PREFETCH: "prefetch",
}
_ELSEWHERE = frozenset({Space.CONST, Space.PARAM})
_LEAVES = frozenset({Flow.JUMP, Flow.RETURN, Flow.EXIT})


Kind = tuple[Space, str, str, bool]
"""Space, buffer, direction, and whether it takes more than would do: what shares a :class:`Reach`."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What one line does to one buffer (or to a space without buffers) in the whole grid.

    Attributes
    ----------
    access
        ``"read"``, ``"write"``, ``"atomic"``, ``"copy"`` or ``"prefetch"``.
    executions, requests
        Warp executions of its instructions, and those of them with a lane on.
    lanes
        Active lanes per execution.
    sectors, wavefronts, ideal
        Per request, as in :class:`~warpwatt.core.execution.AccessPattern`.
    stride
        Bytes between neighbouring lanes where all instructions agree, else None.
    known
        Whether all addresses are known.
    l1_hits, l2_hits
        Shares of the sectors that L1 has, and of those it passes on that L2 has; None where not known.
    l1, l2, dram
        Bytes at each level; None where not known.
    """

    line: SourceLine
    space: Space
    buffer: str
    access: str
    instructions: tuple[int, ...]
    executions: float
    requests: float
    lanes: float
    sectors: float
    wavefronts: float
    ideal: float
    stride: int | None
    known: bool
    l1_hits: float | None = None
    l2_hits: float | None = None
    l1: Traffic | None = None
    l2: Traffic | None = None
    dram: Traffic | None = None

    @property
    def shared(self) -> bool:
        """Whether shared memory serves it, so that wavefronts count, not sectors."""
        return self.space is Space.SHARED

    @property
    def seen(self) -> float:
        """Sectors or wavefronts per request, whichever applies."""
        return self.wavefronts if self.shared else self.sectors

    @property
    def measure(self) -> str:
        """What :attr:`seen` counts."""
        return "wavefronts" if self.shared else "sectors"

    @property
    def seen_text(self) -> str:
        """The same with its unit: ``"32 sectors"``."""
        amount = count(self.seen)
        return f"{amount} {self.measure.removesuffix('s') if amount == '1' else self.measure}"

    @property
    def wasteful(self) -> bool:
        """Whether it takes notably more than would do."""
        return self.seen > self.ideal * WORTH_SAYING

    @property
    def target(self) -> str:
        """The buffer's name, or the space where there is none: ``"A"``, ``"shared memory"``."""
        return self.buffer or f"{'global' if self.space is Space.GENERIC else self.space} memory"

    @property
    def name(self) -> str:
        """What it does to what, for a table: ``"A read"``, ``"shared memory write"``."""
        return f"{self.target} {self.access}"

    @property
    def doing(self) -> str:
        """The same for a sentence: ``"reading A"``."""
        return f"{_DOING[self.access]} {self.target}"


def reaches(workload: Workload) -> dict[tuple[str, int], tuple[Reach, ...]]:
    """Return file and line to what the line does to memory, in the order of its instructions."""
    execution = workload.execution
    groups: dict[tuple[str, int], dict[Kind, list[int]]] = defaultdict(dict)
    for index, pattern in sorted(execution.accesses.items()):
        instruction = execution.program.instructions[index]
        memory, line = instruction.memory, instruction.line
        if memory is None or line is None or memory.space in _ELSEWHERE or not execution.counts[index]:
            continue
        outer = line.home
        kind = (memory.space, pattern.buffer, VERBS[memory.access], _wasteful(memory.space, pattern))
        groups[outer.file, outer.line].setdefault(kind, []).append(index)
    return {
        place: tuple(_reach(workload, kind, indices) for kind, indices in found.items())
        for place, found in groups.items()
    }


def active_lanes(execution: Execution) -> dict[tuple[str, int], float]:
    """Return file and line to the mean number of active lanes when warps execute its instructions.

    Jumps and exits are left out: lanes for which their guard is false go on, they are not idle. So are
    instructions that no lane ever took.
    """
    total: dict[tuple[str, int], float] = defaultdict(float)
    active: dict[tuple[str, int], float] = defaultdict(float)
    for i, n, lanes in zip(execution.program.instructions, execution.counts, execution.lanes, strict=True):
        if i.line is None or not n * lanes or (i.guard is not None and i.flow in _LEAVES):
            continue
        outer = i.line.home
        total[outer.file, outer.line] += n
        active[outer.file, outer.line] += n * lanes
    return {place: active[place] / n for place, n in total.items()}


def _wasteful(space: Space, pattern: AccessPattern) -> bool:
    seen = pattern.wavefronts if space is Space.SHARED else pattern.sectors
    return seen > pattern.ideal * WORTH_SAYING


def _reach(workload: Workload, kind: Kind, indices: Sequence[int]) -> Reach:
    """Put instructions of one line together."""
    execution = workload.execution
    patterns = [execution.accesses[i] for i in indices]
    counts = [execution.counts[i] for i in indices]
    requests = sum(p.requests * n for p, n in zip(patterns, counts, strict=True))
    line = execution.program.instructions[indices[0]].line
    assert line is not None

    def per_request(name: str) -> float:
        total = sum(getattr(p, name) * n for p, n in zip(patterns, counts, strict=True))
        return float(total / requests) if requests else 0.0

    executions = sum(counts)
    reach = Reach(
        line=line.home,
        space=kind[0],
        buffer=kind[1],
        access=kind[2],
        instructions=tuple(indices),
        executions=executions,
        requests=requests,
        lanes=sum(execution.lanes[i] * execution.counts[i] for i in indices) / executions,
        sectors=per_request("sectors"),
        wavefronts=per_request("wavefronts"),
        ideal=per_request("ideal"),
        stride=_common_stride(patterns),
        known=all(p.known for p in patterns),
    )
    return _with_levels(reach, [workload.hits[i] for i in indices if i in workload.hits])


def _common_stride(patterns: Iterable[AccessPattern]) -> int | None:
    strides = {p.stride for p in patterns}
    return strides.pop() if len(strides) == 1 else None


def _with_levels(reach: Reach, hits: Sequence[LevelHits]) -> Reach:
    """Return it with hit shares, weighted by sectors, and bytes of its instructions."""
    if not hits:
        return reach
    sectors = sum(h.sectors for h in hits)
    passed = sum(h.sectors * (1 - h.l1_hits) for h in hits)
    second = sum(h.sectors * (1 - h.l1_hits) * h.l2_hits for h in hits)
    return replace(
        reach,
        l1_hits=1 - passed / sectors if sectors else None,
        l2_hits=second / passed if passed else None,
        l1=_sum([h.l1 for h in hits]),
        l2=_sum([h.l2 for h in hits]),
        dram=_sum([h.dram for h in hits]),
    )


def _sum(parts: Sequence[Traffic]) -> Traffic:
    return Traffic(sum(t.read for t in parts), sum(t.written for t in parts))


def pattern_text(reach: Reach) -> str:
    """Return sectors or wavefronts per request against what would do, empty where it does."""
    if not reach.wasteful:
        return ""
    return f"{reach.seen_text} per request, {count(reach.ideal)} would do"


def stride_text(reach: Reach) -> str:
    """Return the stride with its unit, or that there is none."""
    return "varies" if reach.stride is None else f"{reach.stride} B"


def hit_texts(reach: Reach) -> tuple[str, str]:
    """Return the hit shares of L1 and L2; empty where there are none to have (stores pass through L1)."""
    first = "" if reach.l1_hits is None or reach.access != "read" else percent(reach.l1_hits)
    return first, "" if reach.l2_hits is None else percent(reach.l2_hits)
