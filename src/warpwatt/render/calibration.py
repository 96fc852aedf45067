"""The page of a calibration: every fit as a picture, every constant in a table, in one offline file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from warpwatt.render.assets import asset, environment
from warpwatt.render.plots.measured import picture

if TYPE_CHECKING:
    from warpwatt.lab.measure.calibration import Calibrated

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(calibrated: Calibrated) -> str:
    """Return the page's text."""
    provenance = {"date": calibrated.date, "protocol": calibrated.protocol, **calibrated.provenance}
    return environment().get_template("calibration.html").render(
        calibrated=calibrated,
        provenance="; ".join(f"{name}: {text}" for name, text in provenance.items()),
        rows=", ".join(f"{count} {status}" for status, count in calibrated.rows.items()),
        pictures=[picture(plot) for plot in calibrated.plots],
        style=Markup(asset("calibration.css")),  # noqa: S704 - our own file
        policy=POLICY,
    )  # fmt: skip
