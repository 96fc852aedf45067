"""Verdicts in words that all formats share."""

from __future__ import annotations

from warpwatt.budget.quantities import BYTES, QUANTITIES, SHARE
from warpwatt.core.budget import Bound, CheckResult, Verdict
from warpwatt.core.units import binary_bytes, si
from warpwatt.render.figures import bounds, count, percent
from warpwatt.render.github import repository_path

TRAFFIC = ("l2_traffic", "dram_traffic")
"""Quantities in bytes that are told in powers of 1000."""


def amount(quantity: str, value: float) -> str:
    """Return a number of a quantity for people.

    >>> amount("time", 1.2e-5), amount("shared", 49152.0), amount("occupancy", 0.75)
    ('12.0 µs', '48 KiB', '75 %')
    """
    unit = QUANTITIES[quantity].unit
    if unit == SHARE:
        return percent(value)
    if unit == BYTES and quantity not in TRAFFIC:
        return binary_bytes(value)
    return si(value, unit) if unit else count(value)


def found_text(verdict: Verdict) -> str:
    """Return what was predicted, with its interval."""
    found = verdict.found
    if found is None:
        return "none"
    around = "" if found.unit in (SHARE, BYTES, "") else bounds(found)
    value = amount(verdict.limit.quantity, found.value)
    return f"{value} ({around})" if around else value


def allowed_text(verdict: Verdict) -> str:
    """Return what is allowed: ``at most 12.0 µs``, ``at most 63.0 µs (+5 % over 60.0 µs)``."""
    limit = verdict.limit
    bound = "at most" if limit.bound is Bound.MAX else "at least"
    text = f"{bound} {amount(limit.quantity, verdict.allowed)}"
    if verdict.baseline is None:
        return text
    return f"{text} ({limit.text} from {amount(limit.quantity, verdict.baseline)})"


def judged_text(verdict: Verdict) -> str:
    """Return the number that was judged, where it is not the value itself."""
    found = verdict.found
    if found is None or verdict.judged == found.value:
        return ""
    return f"judged at {amount(verdict.limit.quantity, verdict.judged)}"


def hottest_text(verdict: Verdict) -> str:
    """Return the source line that costs most, empty where none is known."""
    line = verdict.hottest
    if line is None:
        return ""
    share = f"{percent(line.time_share)} of the time, {percent(line.energy_share)} of the energy"
    return f"{repository_path(line.file)}:{line.line}: {share}: {line.text.strip()}"


def sentence(result: CheckResult, verdict: Verdict) -> str:
    """Return an exceeded limit as one sentence that names budget, kernel, GPU and the limit's line."""
    limit, case = verdict.limit, verdict.prediction.case
    judged = judged_text(verdict)
    return (
        f"{verdict.budget}: {limit.quantity} of {verdict.kernel} on {case.gpu.name} is "
        f"{found_text(verdict)}, {allowed_text(verdict)}{f'; {judged}' if judged else ''} "
        f"({result.file}:{limit.line})"
    )


def summary(result: CheckResult) -> str:
    """Return how many limits were held and how many exceeded."""
    failed = f", {len(result.failures)} budgets failed" if result.failures else ""
    return f"{len(result.exceeded)} of {len(result.verdicts)} limits exceeded{failed}"


def overshoot(verdict: Verdict) -> str:
    """Return by how much a number misses what is allowed, empty where that says nothing."""
    if not verdict.allowed > 0 or verdict.found is None:
        return ""
    ratio = verdict.judged / verdict.allowed - 1.0
    return f"{'+' if ratio >= 0 else '−'}{abs(ratio):.0%}".replace("%", " %")
