"""The full report of ``predict -o report.html``: predictions, and what is predicted around them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwatt.commands.output import prediction_context
from warpwatt.render.html import render_reports
from warpwatt.render.report.report import MOST_SWEPT, report, reports
from warpwatt.request.choices import model_choice

if TYPE_CHECKING:
    from warpwatt.commands.output import Writer
    from warpwatt.core.prediction import Prediction
    from warpwatt.request.session import Session

WORTH_SAYING = 5.0
"""Seconds of clock sweeps that a user is told of."""


def write_reports(
    writer: Writer, session: Session, predictions: Sequence[Prediction], *, clock_sweep: bool
) -> None:
    """Render and write the predictions as one page, with their clock sweeps if wanted."""
    context = prediction_context(predictions, verbose=writer.verbose, colour=False)
    if not clock_sweep:
        writer.write_text(render_reports([report(prediction) for prediction in predictions], context))
        return
    begun = time.monotonic()
    full = reports(predictions, model_choice(session.modelling))
    spent = time.monotonic() - begun
    if spent > WORTH_SAYING:
        swept = min(MOST_SWEPT, len(predictions))
        session.notify(
            f"clock sweeps of {swept} predictions took {spent:.0f} s; --no-clock-sweep leaves them out"
        )
    writer.write_text(render_reports(full, context))
