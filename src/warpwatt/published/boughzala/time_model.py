"""``boughzala``: time from the number of blocks alone (Boughzala, Lefèvre and Orgerie 2020).

An adapter: beyond a case it needs three measured launches of the kernel (``--profile``). See
:mod:`warpwatt.published.boughzala` for the equations.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpwatt.core.case import Case, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.core.program import Level
from warpwatt.published.boughzala import Form, fit_case
from warpwatt.published.boughzala.fit import LEAST_LAUNCHES

MODEL_SPREAD = 0.05
"""Standard deviation of log(measured / predicted) of sizes that the line was not fitted to: between the 0.01
of kernels timed well and the 0.07 of all public runs (docs/validation/boughzala.md)."""
PARAMETER = "model:boughzala"
BLIND = "a block model sees no code: source lines have the time of the instructions they execute"


class Boughzala:
    """A line through measured times over blocks, equation (1)."""

    name = "boughzala"
    summary = "line through three or more measured grid sizes (Boughzala 2020); needs --profile"
    levels = (Level.SASS, Level.PTX)
    least_launches = LEAST_LAUNCHES
    form = Form.LINEAR

    def predict(self, case: Case) -> Timing:
        """Return the timing.

        Raises
        ------
        InputError
            If fewer than three different grids were measured, or no line goes through them.
        """
        fitted = fit_case(case, self.form)
        model, blocks = fitted.model, case.launch.grid.count
        seconds = model.time(blocks)
        return Timing(
            model=self.name,
            time=Estimate.spread(seconds, {PARAMETER: MODEL_SPREAD}, "s", fitted.source),
            bottleneck="number of blocks",
            breakdown=_breakdown(seconds, model.start_seconds),
            utilisation={},
            shares=_shares(case.workload.execution.counts),
            warnings=(*fitted.notes, BLIND),
        )


class BoughzalaRounds(Boughzala):
    """Rounds of one block per SM, equation (4)."""

    name = "boughzala-rounds"
    summary = "the same in rounds of one block per SM, as its SimGrid simulation; needs --profile"
    form = Form.ROUNDS


class BoughzalaResident(Boughzala):
    """Rounds of all resident blocks, section IV.B."""

    name = "boughzala-resident"
    summary = "the same in rounds of all blocks that are resident by occupancy; needs --profile"
    form = Form.RESIDENT


def _breakdown(seconds: float, start: float) -> dict[str, float]:
    """Return what grows with the blocks and, where the line starts above zero, what does not."""
    return {"blocks": seconds - start, "start": start} if start > 0 else {"blocks": seconds}


def _shares(counts: Sequence[float]) -> tuple[float, ...]:
    """Return each instruction's share of all that are executed."""
    whole = sum(counts)
    return tuple(count / whole for count in counts) if whole > 0 else tuple(counts)
