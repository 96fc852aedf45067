"""A phase-changing application made of measured kernels, under the simulated clock controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.wang_chu import errors as e
from warpwatt.published.wang_chu.controller import (
    Cost,
    Phase,
    Switching,
    best_fixed,
    controlled,
    fixed,
    oracle,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.wang_chu.measurements import Kernel, Pair
    from validation.wang_chu.unprofiled import Swept

ORDER = ("vectorAdd", "matrixMulShared", "scalarProd", "binomialOptions", "transpose", "mergeSort")
ROUNDS = 3
SWITCHING = Switching(seconds=0.02, watts=60.0)
PHASE_SECONDS = (0.05, 0.5, 5.0)
TEXT = """\
{kernels},
one phase after the other, {rounds} times; a phase lasts as long as given at the fastest clocks. A change
takes {milliseconds:g} ms at {watts:g} W, both assumed. Costs are the measured ones of every pair of clocks;
*predicted* decides by one profile (time) and the component model (power), and pays what was measured. Energy
over that of the fastest clocks, in percent; changes are those of *predicted*."""


def section(swept: Sequence[Swept], baseline: Pair) -> list[str]:
    """Return the section of the page; empty without the kernels."""
    known = {one.kernel.name: one for one in swept}
    if any(name not in known for name in ORDER):
        return []
    chosen = [known[name] for name in ORDER]
    rows = ["| phase | best fixed clocks | controller, predicted | controller, measured | oracle | changes |"]
    rows += ["|" + "---|" * 6] + [_row(chosen, baseline, seconds) for seconds in PHASE_SECONDS]
    text = TEXT.format(
        kernels=", ".join(ORDER), rounds=ROUNDS, milliseconds=1e3 * SWITCHING.seconds, watts=SWITCHING.watts
    )
    return ["## A simulated clock controller", text, "\n".join(rows)]


def _row(chosen: Sequence[Swept], baseline: Pair, seconds: float) -> str:
    pairs = list(chosen[0].kernel.points)
    fastest = max(pairs)
    true, believed = [], []
    for one in chosen:
        launches = max(1, round(seconds / one.kernel.points[fastest].seconds))
        true.append(Phase(one.kernel.name, _measured(one.kernel), launches))
        believed.append(Phase(one.kernel.name, _predicted(one, baseline), launches))
    true, believed = true * ROUNDS, believed * ROUNDS
    predicted = controlled(true, SWITCHING, fastest, believed)
    runs = (best_fixed(true), predicted, controlled(true, SWITCHING, fastest), oracle(true, SWITCHING))
    whole = fixed(true, fastest).joules
    cells = (f"{100 * run.joules / whole:.1f}" for run in runs)
    return f"| {seconds:g} s | {' | '.join(cells)} | {predicted.switches} |"


def _measured(kernel: Kernel) -> Mapping[Pair, Cost]:
    return {pair: Cost(point.seconds, point.joules) for pair, point in kernel.points.items()}


def _predicted(one: Swept, baseline: Pair) -> Mapping[Pair, Cost]:
    times = e.from_profile(one.kernel, baseline)[e.ONE_PROFILE]
    joules = e.energies(times, one)
    return {pair: Cost(seconds, joules[pair]) for pair, seconds in times.items()}
