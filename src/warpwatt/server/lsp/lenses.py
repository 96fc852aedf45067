"""Code lenses, what a kernel costs, above it; inlay hints, shares of time and energy, at the hot lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from warpwatt.core.units import si
from warpwatt.render.figures import percent
from warpwatt.server.lsp.document import bare

if TYPE_CHECKING:
    from warpwatt.server.lsp.document import Document
    from warpwatt.server.lsp.facts import Facts
    from warpwatt.server.lsp.source import KernelPlace

SHOW_REPORT = "warpwatt.showReport"
INSERT_LAUNCH = "warpwatt.insertLaunch"
MOST_GPUS = 3
"""GPUs of a launch that each have a lens; of more, only the best."""


def lenses(document: Document) -> list[types.CodeLens]:
    """Return the lenses of a document as far as they are known."""
    found = []
    for place in document.places:
        line = document.text.range(place.line, place.column, place.column + len(place.name))
        for title, command in _titles(document, place):
            arguments = [document.uri, place.name] if command else None
            found.append(types.CodeLens(line, types.Command(title, command, arguments=arguments)))
    return found


def _titles(document: Document, place: KernelPlace) -> Iterator[tuple[str, str]]:
    """Yield what stands above a kernel, and the command behind it."""
    shown = document.shown_for(place)
    suffix = "" if document.current else " · updating …"
    if shown:
        launches: dict[int, list[Facts]] = {}
        for one in shown:
            launches.setdefault(one.launch, []).append(one.facts)
        for several in launches.values():
            head = f"{several[0].launch}: " if len(launches) > 1 else ""
            for title in _launch_titles(several):
                yield head + title + suffix, SHOW_REPORT
    elif not document.current or (document.answer is not None and not document.answer.complete):
        yield "predicting …", ""
    elif (reason := _reason(document, place)) is not None:
        slip = any(p.code == "compile" for p in document.answer.problems) if document.answer else False
        before = [shown for shown in document.good if slip and shown.facts.kernel == place.name]
        for one in before[:MOST_GPUS]:
            yield f"{lens_text(one.facts)} · before the error", SHOW_REPORT
        if not before:
            yield reason, ""
    else:
        missing = " (and an instance: a template)" if place.template else ""
        yield f"no launch is known{missing}: add a // warpwatt: line", INSERT_LAUNCH


def _reason(document: Document, place: KernelPlace) -> str | None:
    """Return why there is no prediction though there is a launch, None where there is no launch."""
    assert document.answer is not None
    problems = document.answer.problems
    if any(problem.code in ("compile", "setup", "gpu", "internal") for problem in problems):
        return "not predicted: see the problems"
    asked = any(bare(words.kernel) in ("", place.name) for words in document.answer.launches)
    return "not predicted: see the problems" if asked and problems else None


def _launch_titles(several: Sequence[Facts]) -> list[str]:
    if len(several) <= MOST_GPUS:
        return [lens_text(facts) for facts in several]
    fastest = min(several, key=lambda facts: facts.time)
    leanest = min(several, key=lambda facts: facts.energy)
    best = f"fastest of {len(several)}: {lens_text(fastest)}"
    if leanest is fastest:
        return [f"{best} · least energy, too"]
    return [best, f"least energy: {lens_text(leanest)}"]


def lens_text(facts: Facts) -> str:
    """Return time, power, energy, GPU and what limits."""
    limit = "*" if facts.limited_by_power else ""
    figures = f"{si(facts.time, 's')} · {si(facts.power, 'W')}{limit} · {si(facts.energy, 'J')}"
    return f"{figures} on {gpu_name(facts.gpu)} · {facts.bottleneck}"


def gpu_name(name: str) -> str:
    """Return a GPU's name without the vendor's.

    >>> gpu_name("NVIDIA H200")
    'H200'
    """
    return name.removeprefix("NVIDIA ")


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
