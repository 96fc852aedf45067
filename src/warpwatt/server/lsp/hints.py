"""Inlay hints: shares of time and energy at the hot lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from warpwatt.render.figures import percent
from warpwatt.server.lsp.lenses import gpu_name

if TYPE_CHECKING:
    from warpwatt.server.lsp.document import Document

LEAST = 0.02
"""Share of time or energy from which on a line has a hint."""


def hints(document: Document, first: int, last: int) -> list[types.InlayHint]:
    """Return the hints of lines ``first`` to ``last``: of each kernel's first launch on the first GPU."""
    if document.answer is None:
        return []
    now = document.lines_now()
    seen: set[str] = set()
    found = []
    for shown in document.answer.shown:
        facts = shown.facts
        if facts.demangled in seen:
            continue
        seen.add(facts.demangled)
        for fact in facts.lines:
            line = now.get(fact.line)
            if line is None or not first <= line <= last or max(fact.time_share, fact.energy_share) < LEAST:
                continue
            label = f"{percent(fact.time_share)} time · {percent(fact.energy_share)} energy"
            where = f"{facts.kernel} {facts.launch} on {gpu_name(facts.gpu)}"
            tooltip = f"{where}\n\n{fact.stalls}" if fact.stalls else where
            found.append(
                types.InlayHint(
                    document.text.end(line),
                    label,
                    padding_left=True,
                    tooltip=types.MarkupContent(types.MarkupKind.PlainText, tooltip),
                )
            )
    return found
