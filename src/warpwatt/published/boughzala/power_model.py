"""``boughzala``: power from the dynamic energy of a block, E(N) = E_b·N + P_s·T (Boughzala et al. 2020, (3)).

Works beside any time model: T is what that says. With ``boughzala-rounds`` N is rounded up as there, (6);
with ``boughzala-resident`` the power is drawn straight from one measured size to the next.
"""

from __future__ import annotations

from warpwatt.core.case import Case, Power, Timing
from warpwatt.core.estimate import Estimate
from warpwatt.published.boughzala import Form, fit_case

MODEL_SPREADS = {Form.LINEAR: 0.20, Form.ROUNDS: 0.20, Form.RESIDENT: 0.06}
"""Standard deviation of log(measured / predicted) of the power of sizes that nothing was fitted to, of runs
long enough for the sensor (docs/validation/boughzala.md)."""
_FORMS = {"boughzala-rounds": Form.ROUNDS, "boughzala-resident": Form.RESIDENT}


class Boughzala:
    """Static power plus the energy of the blocks over the time."""

    name = "boughzala"
    summary = "idle power and energy per block of three or more measured grid sizes; needs --profile"

    def predict(self, case: Case, timing: Timing) -> Power:
        """Return the mean power while the kernel runs.

        Raises
        ------
        InputError
            If fewer than three different grids were measured, without power, or no line goes through them.
        """
        form = _FORMS.get(timing.model, Form.LINEAR)
        fitted = fit_case(case, form)
        model, seconds = fitted.model, timing.time.value
        watts = model.energy(case.launch.grid.count, seconds) / seconds
        return Power(
            self.name,
            Estimate.spread(watts, {"model:boughzala-power": MODEL_SPREADS[form]}, "W", fitted.source),
            {"idle": model.static_watts, "blocks": watts - model.static_watts},
            warnings=fitted.notes,
        )
