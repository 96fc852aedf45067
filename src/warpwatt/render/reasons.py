"""What warps wait for and what would help, as sentences: findings of models that know both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from warpwatt.core.advice import Advice
from warpwatt.core.prediction import LineCost, LineWait, Prediction
from warpwatt.core.program import SourceLine
from warpwatt.core.units import si
from warpwatt.core.warps import Stall
from warpwatt.render.figures import bounds, percent
from warpwatt.render.verdict import Kind, verdict
from warpwatt.render.words import COMPUTE_UNITS, MEMORY_UNITS, SCHEDULER_UNITS, unit_name


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about one topic; ``fix`` is the flag or change that helps, if one is known."""

    topic: str
    text: str
    line: SourceLine | None = None
    fix: str = ""


MOST_WAITS = 3
NOTABLE_WAIT = 0.05
"""Share of warp time from which a line's wait for another is mentioned."""
FULL = 0.5
"""Occupancy from which on more warps are not the first thing to try."""
SMALL, SMALL_PART = 0.005, 0.05
"""Shares of all warp time, and of a line's own, below which its stalls are not listed."""
NOTHING = (Stall.SELECTED,)

_PRODUCERS = {
    "LDG": "load", "LD": "load", "LDS": "shared-memory load", "LDSM": "shared-memory load",
    "LDL": "local load", "LDC": "constant load", "LDGSTS": "copy", "UBLKCP": "bulk copy",
    "UTMALDG": "bulk copy", "ATOM": "atomic", "ATOMG": "atomic", "ATOMS": "shared-memory atomic",
    "RED": "atomic", "STG": "store", "STS": "store", "STL": "store", "ST": "store",
    "TEX": "texture read", "TLD": "texture read", "SHFL": "shuffle", "MUFU": "special function",
    "F2F": "conversion", "F2I": "conversion", "I2F": "conversion", "FRND": "conversion",
    "S2R": "special register", "S2UR": "special register", "MEMBAR": "memory fence",
    "HMMA": "tensor operation", "IMMA": "tensor operation", "DMMA": "tensor operation",
    "DFMA": "double-precision result", "DADD": "double-precision result",
    "DMUL": "double-precision result", "DSETP": "double-precision result", "POPC": "bit count",
}  # fmt: skip
"""What an instruction that others wait for is called."""


HELP = "What would help"
"""Topic of the advice."""


def producer_text(wait: LineWait, cost: LineCost) -> str:
    """Return what a line waits for: ``"the load of line 14"``, ``"its own load"``."""
    name = _PRODUCERS.get(wait.opcode, wait.opcode)
    own = (wait.producer.file, wait.producer.line) == (cost.file, cost.line)
    return f"its own {name}" if own else f"the {name} of line {wait.producer.line}"


def stall_text(cost: LineCost, most: int = 4) -> str:
    """Return what warps do at a line, largest share of all warp time first, and whom they wait for."""
    parts: list[str] = []
    least = max(SMALL, SMALL_PART * cost.time_share)
    for stall, share in cost.stalls.items():
        if share < least or stall in NOTHING or len(parts) == most:
            continue
        wait = next((w for w in cost.waits if w.stall is stall), None)
        parts.append(f"{stall} {percent(share)}" + (f" for {producer_text(wait, cost)}" if wait else ""))
    return ", ".join(parts)


def limits(prediction: Prediction) -> Iterator[Finding]:
    """Yield how busy compute and memory are, and what that means."""
    busy = prediction.timing.busy
    if prediction.timing.warps is None:
        return
    compute, memory = _busiest(busy, {**COMPUTE_UNITS, **SCHEDULER_UNITS}), _busiest(busy, MEMORY_UNITS)
    reach = f"Memory is busy {_reach(memory)} and compute {_reach(compute)} of the time"
    yield Finding("Speed of Light", f"{reach}: {_meaning(prediction)}.")


def _busiest(busy: Mapping[str, float], keys: Collection[str]) -> tuple[str, float]:
    shares = {key: share for key, share in busy.items() if key in keys}
    return max(shares.items(), key=lambda item: item[1], default=("", 0.0))


def _reach(unit: tuple[str, float]) -> str:
    return f"{percent(unit[1])} ({unit_name(unit[0])})" if unit[0] else "0 %"


def _meaning(prediction: Prediction) -> str:
    limit = verdict(prediction.timing)
    if limit.kind is Kind.OTHER:
        return f"neither binds, {limit.name} does"
    if limit.kind is not Kind.LATENCY:
        return f"{limit.kind} binds"
    held = prediction.case.workload.occupancy
    if held.limiter == "grid":
        return (
            "neither binds, the kernel is bound by latency, and few warps hide it: the grid has "
            f"{held.resident_blocks} blocks for an SM, which could hold {held.blocks_per_sm}"
        )
    if held.theoretical < FULL:
        return (
            "neither binds, the kernel is bound by latency, and few warps hide it: "
            f"{percent(held.theoretical)} occupancy, limited by {held.limiter}"
        )
    return "neither binds, the kernel is bound by latency: warps wait longer than others have work"


def scheduler(prediction: Prediction) -> Iterator[Finding]:
    """Yield how often the schedulers find a warp to issue from, as Nsight Compute states it."""
    warps = prediction.timing.warps
    if warps is None or not warps.issued:
        return
    issue = warps.issued / warps.duration / warps.schedulers
    per_issue = warps.total / warps.issued
    text = (
        f"Of {warps.active:.1f} warps per scheduler {warps.eligible:.2f} are eligible in a cycle; one issues "
        f"in {percent(issue)} of the cycles in which its SM works, each warp every {per_issue:.1f} cycles."
    )
    yield Finding("Scheduler and Warp State", text)


def waits(prediction: Prediction) -> Iterator[Finding]:
    """Yield the lines that wait longest for a result, and whose it is."""
    every = [(wait, cost) for cost in prediction.lines for wait in cost.waits if wait.share >= NOTABLE_WAIT]
    for wait, cost in sorted(every, key=lambda pair: -pair[0].share)[:MOST_WAITS]:
        share = f"{wait.stall}, {percent(wait.share)} of warp time"
        text = f"Line {cost.line} waits for {producer_text(wait, cost)}: {share}."
        yield Finding("Scheduler and Warp State", text, wait.producer)


def advice(prediction: Prediction) -> Iterator[Finding]:
    """Yield what would help, most helpful change first."""
    if prediction.advice is None:
        return
    for one in prediction.advice:
        yield Finding(HELP, f"{_capitalised(one.text)} {saving_text(one)}.", one.line, one.fix)
    if not prediction.advice:
        yield Finding(HELP, no_advice_text(prediction))


def no_advice_text(prediction: Prediction) -> str:
    """Return why there is no advice."""
    if prediction.case.workload.execution.streams is None:
        return "No change was tried: what warps do was not traced."
    return "No change that was tried is sure to save time."


def saving_text(one: Advice) -> str:
    """Return what a change saves: ``"would save 38 % (1.2 ms, 0.9–1.4; 12 % of the energy)"``."""
    around = bounds(one.saved)
    interval = f", {around}" if around else ""
    also = f"; {percent(one.energy_share)} of the energy" if one.energy_share > 0 else ""
    return f"would save {percent(one.share)} ({si(one.saved.value, 's')}{interval}{also})"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
