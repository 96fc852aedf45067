"""The page of a calibration: every fit as a picture, every constant in a table, in one offline file."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from warpwatt.render.plots.measured import svg

if TYPE_CHECKING:
    from warpwatt.lab.measure.calibration import Calibrated
    from warpwatt.lab.measure.constants import Constant, Plot

STYLE = """
:root { color-scheme: light dark; --paper: #f5f6f8; --card: #fff; --ink: #16191d; --soft: #57606a;
  --rule: #d8dde3; --accent: #0b5cad; --warn: #8a4b00; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #0f1216; --card: #181c22; --ink: #e8ebee;
  --soft: #a2acb8; --rule: #2f363f; --accent: #77b7ff; --warn: #ffc677; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1400px; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } .soft { color: var(--soft); }
.missing { color: var(--warn); }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(320px, 1fr)); gap: 1rem; }
figure { margin: 0; padding: .7rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: 8px; }
figcaption { font-size: .85rem; } figcaption b { display: block; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--soft); }
svg line { stroke: var(--rule); } svg circle { fill: var(--accent); }
svg polyline { fill: none; stroke: var(--ink); stroke-width: 1.5; }
table { border-collapse: collapse; background: var(--card); font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; border-bottom: 1px solid var(--rule); text-align: right; }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, Menlo, Consolas, monospace; }
.wide { overflow-x: auto; }
"""
HEADS = ("constant", "value", "standard error", "unit", "points", "R²")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(calibrated: Calibrated) -> str:
    """Return the page's text."""
    told = {"date": calibrated.date, "protocol": calibrated.protocol, **calibrated.provenance}
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    title = f"Calibration of {escape(calibrated.gpu)}"
    rows = ", ".join(f"{count} {status}" for status, count in calibrated.rows.items())
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title} – WarpWatt</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f'<p class="soft">{escape("; ".join(f"{n}: {text}" for n, text in told.items()))}. Rows: {rows}.</p>',
        *(f'<p class="missing">Not determined: {escape(text)}</p>' for text in calibrated.missing),
        f"<h2>Constants ({len(calibrated.constants)})</h2>",
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>',
        *map(_row, calibrated.constants),
        "</tbody></table></div>",
        f"<h2>Fits ({len(calibrated.plots)})</h2>",
        '<div class="grid">',
        *map(_figure, calibrated.plots),
        "</div></body></html>",
    ]
    return "\n".join(lines) + "\n"


def _row(one: Constant) -> str:
    r2 = "" if one.r2 is None else f"{one.r2:.4f}"
    cells = (f"{one.value:.6g}", f"{one.error:.2g}", escape(one.unit), str(one.points), r2)
    return f"<tr><td>{escape(one.name)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _figure(plot: Plot) -> str:
    caption = f"<b>{escape(plot.title)}</b>{escape(plot.note)}"
    return f"<figure>{svg(plot)}<figcaption>{caption}</figcaption></figure>"
