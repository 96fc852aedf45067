"""Hover: everything known of the line under the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from warpwatt.render.figures import percent
from warpwatt.server.lsp.lenses import gpu_name

if TYPE_CHECKING:
    from warpwatt.server.lsp.document import Document
    from warpwatt.server.lsp.facts import AdviceFact, Facts, LineFact, OtherFact

MOST = 3
"""Launches and GPUs that one hover tells of."""


def hover(document: Document, line: int) -> types.Hover | None:
    """Return what is known of a line: of a kernel's head the whole kernel, of others their costs."""
    if document.answer is None:
        return None
    before = {now: old for old, now in document.lines_now().items()}.get(line)
    place = next((p for p in document.places if p.first <= line <= p.line), None)
    parts = list(_line_parts(document, before)) if before is not None else []
    if place is not None:
        parts = [_kernel_text(shown.facts) for shown in document.shown_for(place)] + parts
    else:
        parts += _launch_parts(document, before)
    if not parts:
        return None
    note = "" if document.current else "\n\n*before your last edit*"
    more = f"\n\n… and {len(parts) - MOST} more" if len(parts) > MOST else ""
    value = "\n\n---\n\n".join(parts[:MOST]) + more + note
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, value))


def _line_parts(document: Document, line: int) -> Iterator[str]:
    assert document.answer is not None
    for shown in document.answer.shown:
        for fact in shown.facts.lines:
            if fact.line == line:
                yield _line_text(shown.facts, fact)


def _launch_parts(document: Document, line: int | None) -> list[str]:
    """Return the predictions of the launch that a comment line describes."""
    assert document.answer is not None
    numbers = {n for n, words in enumerate(document.answer.launches) if words.line == line is not None}
    return [_kernel_text(shown.facts) for shown in document.answer.shown if shown.launch in numbers]


def _head(facts: Facts) -> str:
    return f"**{escaped(facts.kernel)}** {facts.launch} on {gpu_name(facts.gpu)}"


def _line_text(facts: Facts, fact: LineFact) -> str:
    rows = [
        _head(facts),
        "",
        f"- **{percent(fact.time_share)}** of the time, **{percent(fact.energy_share)}** of the energy",
    ]
    if fact.stalls:
        rows.append(f"- warps: {escaped(fact.stalls)}")
    rows += [f"- {escaped(access)}" for access in fact.accesses]
    here = [one for one in facts.advice or () if one.line == fact.line]
    rows += [_advice_text(one) for one in here]
    return "\n".join(rows)


def _advice_text(one: AdviceFact) -> str:
    energy = f", {percent(one.energy_share)} of the energy" if one.energy_share > 0 else ""
    fix = f": {escaped(one.fix)}" if one.fix else ""
    return f"- → {escaped(one.text)} would save **{percent(one.share)}**{energy}{fix}"


def _other_text(one: OtherFact) -> str:
    """Return what another model says in one cell of a table."""
    return " · ".join(escaped(part) for part in (one.text, one.warning) if part)


def _kernel_text(facts: Facts) -> str:
    limit = " (at the power limit)" if facts.limited_by_power else ""
    rows = [
        _head(facts),
        "",
        "| | |",
        "|---|---|",
        f"| time | {facts.time_text} |",
        f"| power | {facts.power_text}{limit} |",
        f"| energy | {facts.energy_text} |",
        f"| limited by | {escaped(facts.bottleneck)} |",
        f"| occupancy | {facts.occupancy}, {facts.registers} registers |",
        f"| clock | {facts.clocks} |",
    ]
    rows += [f"| {escaped(one.model)} | {_other_text(one)} |" for one in facts.beside]
    if facts.advice:
        rows += ["", "What would help", ""] + [_advice_text(one) for one in facts.advice]
    if facts.assumptions:
        rows += ["", "Assumed", ""] + [f"- {escaped(text)}" for text in facts.assumptions]
    if facts.warnings:
        rows += ["", "Warnings", ""] + [f"- {escaped(text)}" for text in facts.warnings]
    return "\n".join([*rows, "", "Intervals hold 80 %."])


def escaped(text: str) -> str:
    r"""Return text that Markdown shows as it is; what stands in backticks stays code.

    >>> escaped("a*b `x*y` <i>")
    'a\\*b `x*y` \\<i\\>'
    """
    parts = text.split("`")
    return "`".join(
        part if number % 2 else re.sub(r"([\\*_\[\]<>#|~!])", r"\\\1", part)
        for number, part in enumerate(parts)
    )
