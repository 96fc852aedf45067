"""``boughzala``: power from the dynamic energy of a block, E(N) = E_b·N + P_s·T (Boughzala et al. 2020, (3)).

Works beside any time model: T is what that says. ``boughzala-rounds`` rounds N up as the time model of that
name does, (6); ``boughzala-resident`` draws the power straight from one measured size to the next. Beside one
of these time models ``boughzala`` counts blocks as they do.
"""

from __future__ import annotations

from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.published.boughzala import Form, fit_case
from warpwatt.published.boughzala.fit import LEAST_LAUNCHES

MODEL_SPREADS = {Form.LINEAR: 0.20, Form.ROUNDS: 0.20, Form.RESIDENT: 0.06}
"""Standard deviation of log(measured / predicted) of the power of sizes that nothing was fitted to, of runs
long enough for the sensor (docs/validation/boughzala.md)."""
_FORMS = {"boughzala-rounds": Form.ROUNDS, "boughzala-resident": Form.RESIDENT}


class Boughzala:
    """Static power plus the energy of the blocks over the time."""

    name = "boughzala"
    summary = "idle power and energy per block of three or more measured grid sizes; needs --profile"
    least_launches = LEAST_LAUNCHES
    form: Form | None = None
    """How blocks count; None: as in the time model."""

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        Raises
        ------
        InputError
            If fewer than three different grids were measured, without power, or no line goes through them.
        """
        form = self.form or _FORMS.get(timing.model, Form.LINEAR)
        fitted = fit_case(case, form)
        model, seconds = fitted.model, timing.time.value
        watts = model.energy(case.launch.grid.count, seconds) / seconds
        return Power(
            self.name,
            Estimate.spread(watts, {"model:boughzala-power": MODEL_SPREADS[form]}, "W", fitted.source),
            {"idle": model.static_watts, "blocks": watts - model.static_watts},
            warnings=fitted.notes,
        )


class BoughzalaRounds(Boughzala):
    """Rounds of one block per SM, equation (6)."""

    name = "boughzala-rounds"
    summary = "the same in rounds of one block per SM; needs --profile"
    form = Form.ROUNDS


class BoughzalaResident(Boughzala):
    """The measured power itself, between measured sizes."""

    name = "boughzala-resident"
    summary = "power of the measured sizes next to the one asked for; needs --profile"
    form = Form.RESIDENT
