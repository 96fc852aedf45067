"""A :class:`~warpwatt.core.prediction.Prediction` as :class:`~warpwatt.server.lsp.facts.Facts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpwatt.core.advice import Advice
from warpwatt.core.prediction import LineCost, Prediction
from warpwatt.core.units import si
from warpwatt.frontend.select import plain_name
from warpwatt.render.figures import count, dimensions, interval, percent
from warpwatt.render.findings import FULL_WARP
from warpwatt.render.findings import occupancy as occupancy_findings
from warpwatt.render.findings import spills as spill_findings
from warpwatt.render.reach import WORTH_SAYING, active_lanes, hit_texts, pattern_text, reaches, stride_text
from warpwatt.render.reasons import producer_text, stall_text
from warpwatt.server.lsp.facts import AdviceFact, Facts, LineFact, OtherFact, Related, Remark

if TYPE_CHECKING:
    from warpwatt.render.reach import Reach

LOW_OCCUPANCY = 0.5
"""Occupancy below which its cause is worth a remark."""
LEAST_WAIT = 0.01
"""Share of warp time from which a wait is told."""
LEAST_SHARE = 0.005
"""Share of the time below which a line's troubles are not worth a remark."""
KERNEL = 0
"""Line of a remark that concerns the whole kernel."""


def facts_of(prediction: Prediction, own: str) -> Facts:
    """Return the facts of a prediction; ``own`` is the name of the document among its files."""
    case = prediction.case
    launch = case.launch
    held = case.workload.occupancy
    return Facts(
        kernel=plain_name(case.kernel.demangled),
        demangled=case.kernel.demangled,
        gpu=case.gpu.name,
        launch=f"{dimensions(launch.grid)} × {dimensions(launch.block)}",
        time=prediction.time.value,
        power=prediction.power.value,
        energy=prediction.energy.value,
        time_text=interval(prediction.time),
        power_text=interval(prediction.power),
        energy_text=interval(prediction.energy),
        bottleneck=prediction.timing.bottleneck,
        occupancy=f"{percent(held.resident)}, limited by {held.limiter}",
        registers=case.kernel.resources.registers,
        clocks=si(case.clocks.sm, "Hz"),
        limited_by_power=prediction.limited_by_power,
        lines=tuple(_lines(prediction, own)),
        remarks=tuple(_remarks(prediction, own)),
        assumptions=tuple(_assumptions(prediction)),
        warnings=prediction.warnings,
        advice=None if prediction.advice is None else advice_facts(prediction.advice, own),
    )


def other_fact(choice: str, prediction: Prediction) -> OtherFact:
    """Return what a prediction with another model says: the power for ``power=NAME``, else the time."""
    is_power = choice.partition("=")[0] in ("power", "energy")
    own = prediction.power_result.warnings if is_power else prediction.timing.warnings
    return OtherFact(
        choice, interval(prediction.power if is_power else prediction.time), own[-1] if own else ""
    )


def advice_facts(advice: tuple[Advice, ...], own: str) -> tuple[AdviceFact, ...]:
    """Return what changes to the kernel would save."""
    return tuple(
        AdviceFact(
            one.text,
            one.share,
            one.energy_share,
            one.fix,
            one.line.line if one.line is not None and one.line.file == own else None,
        )
        for one in advice
    )


def _assumptions(prediction: Prediction) -> Iterator[str]:
    for assumption in prediction.assumptions:
        where = f"line {assumption.line.line}: " if assumption.line else ""
        fix = f" → `{assumption.fix}`" if assumption.fix else ""
        yield f"{where}{assumption.message}{fix}"


def _lines(prediction: Prediction, own: str) -> Iterator[LineFact]:
    found = reaches(prediction.case.workload)
    for cost in prediction.lines:
        if cost.file != own:
            continue
        accesses = tuple(_access(reach) for reach in found.get((cost.file, cost.line), ()))
        waits = tuple(
            Related(wait.producer.line, f"{wait.stall} {percent(wait.share)} for {producer_text(wait, cost)}")
            for wait in cost.waits
            if wait.share >= LEAST_WAIT and wait.producer.file == own
        )
        yield LineFact(cost.line, cost.time_share, cost.energy_share, stall_text(cost), accesses, waits)


def _access(reach: Reach) -> str:
    """Return one access of a line: ``"reading A: 32 sectors per request, 4 would do; stride 4096 B"``."""
    seen = pattern_text(reach) or f"{reach.seen_text} per request"
    first, second = hit_texts(reach)
    hits = "".join(f", {name} {share}" for name, share in (("L1 hits", first), ("L2 hits", second)) if share)
    moved = f", {si(reach.dram.total, 'B')} DRAM" if reach.dram is not None and reach.dram.total else ""
    stride = "" if reach.shared else f"; stride {stride_text(reach)}"
    return f"{reach.doing}: {seen}{stride}{hits}{moved}"


def _remarks(prediction: Prediction, own: str) -> Iterator[Remark]:
    least = LEAST_SHARE if prediction.timing.shares else 0.0
    costs = {c.line: c for c in prediction.lines if c.file == own and c.time_share >= least}
    yield from _access_remarks(prediction, costs, own)
    yield from _divergence(prediction, costs, own)
    for finding in spill_findings(prediction):
        yield Remark("spills", KERNEL, f"{finding.text} Try {finding.fix}.")
    low = prediction.case.workload.occupancy.resident < LOW_OCCUPANCY
    for position, finding in enumerate(occupancy_findings(prediction)):
        if position > 0:
            yield Remark("idle-sms", KERNEL, finding.text)
        elif low:
            yield Remark("low-occupancy", KERNEL, f"Occupancy {finding.text}")


def _access_remarks(prediction: Prediction, costs: dict[int, LineCost], own: str) -> Iterator[Remark]:
    waiters = _waiters(costs, own)
    for (file, line), found in reaches(prediction.case.workload).items():
        for reach in found:
            if file != own or not reach.wasteful or line not in costs:
                continue
            share = costs[line].time_share
            if reach.shared:
                ways = f"{count(reach.wavefronts / reach.ideal)}-way bank conflict" if reach.ideal else ""
                text = f"{ways or 'Bank conflicts'}: {reach.doing} takes {pattern_text(reach)}."
                yield Remark("bank-conflicts", line, text, share, waiters.get(line, ()))
            else:
                stride = "irregular addresses" if reach.stride is None else f"stride {reach.stride} B"
                seen = "" if reach.known else " (assumed: the addresses depend on data)"
                text = f"Uncoalesced: {reach.doing} takes {pattern_text(reach)}; {stride}{seen}."
                yield Remark("uncoalesced-access", line, text, share, waiters.get(line, ()))


def _waiters(costs: dict[int, LineCost], own: str) -> dict[int, tuple[Related, ...]]:
    """Return line to the lines that wait for its results, each with what it waits, in order of lines."""
    found: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for cost in costs.values():
        for wait in cost.waits:
            if wait.producer.file == own and wait.share >= LEAST_WAIT:
                found[wait.producer.line][cost.line].append(f"{wait.stall} {percent(wait.share)}")
    return {
        line: tuple(
            Related(at, f"waits for it: {', '.join(stalls)} of the warps' time") for at, stalls in of.items()
        )
        for line, of in found.items()
    }


def _divergence(prediction: Prediction, costs: dict[int, LineCost], own: str) -> Iterator[Remark]:
    for (file, line), lanes in active_lanes(prediction.case.workload.execution).items():
        if file == own and line in costs and lanes * WORTH_SAYING < FULL_WARP:
            text = f"Divergence: on average {count(round(lanes, 1))} of 32 lanes are active here."
            yield Remark("divergence", line, text, costs[line].time_share, _branch(costs[line]))


def _branch(cost: LineCost) -> tuple[Related, ...]:
    """Return that the line itself waits for another, where it does: often the condition's operand."""
    return tuple(
        Related(wait.producer.line, f"line {cost.line} waits for a result of this one")
        for wait in cost.waits[:1]
        if wait.producer.file == cost.file and wait.share >= LEAST_WAIT and wait.producer.line != cost.line
    )
