"""Diagnostics of a document, and of other files that its analysis found something wrong with."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from lsprotocol.types import DiagnosticSeverity
from pygls.uris import from_fs_path

from warpwatt.server.lsp.document import MAX_CHARACTERS
from warpwatt.server.lsp.facts import Problem
from warpwatt.server.lsp.lenses import gpu_name
from warpwatt.server.lsp.source import ignored

if TYPE_CHECKING:
    from warpwatt.server.lsp.document import Document
    from warpwatt.server.lsp.facts import Facts, Remark

PAGE = "https://github.com/warpwatt/warpwatt/blob/main/docs/how-to/editor.md"
NOTABLE = 0.05
"""Share of the kernel's time from which on a line's trouble is a warning."""

EXPLANATIONS = {
    "uncoalesced-access": "The lanes of a warp touch more 32-byte sectors than their data fill.",
    "bank-conflicts": "Lanes of a warp use one bank of shared memory at different addresses and take turns.",
    "divergence": "Lanes of a warp take different ways, and those not taken sit idle.",
    "spills": "Registers do not suffice, and values go through local memory.",
    "low-occupancy": "Few warps are resident, so that little hides the latency of each.",
    "idle-sms": "The grid does not fill the GPU evenly.",
    "launch": "A launch cannot be predicted as it is described.",
    "execution": "The kernel fails when it runs with this launch.",
    "compile": "The compiler refuses the source.",
    "settings": "A setting cannot be used.",
    "gpu": "A GPU cannot be predicted for.",
    "setup": "Something that predictions need is missing.",
    "trust": "A folder that nobody has trusted is not compiled in.",
    "too-large": "The text is larger than what is analysed.",
    "internal": "A bug of WarpWatt.",
}
"""Code to what it means; the page of documentation has a section for each."""
QUIET = frozenset({"low-occupancy", "idle-sms"})
"""Codes that inform and never warn: often there is nothing to be done."""


def address(code: str) -> str:
    """Return where a code is explained."""
    return f"{PAGE}#{code}"


def severity(code: str, share: float) -> DiagnosticSeverity:
    """Return how grave a remark is at a line that takes this share of the time."""
    if code in QUIET or share < NOTABLE:
        return DiagnosticSeverity.Information
    return DiagnosticSeverity.Warning


SOURCE = "warpwatt"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}
_QUOTED = re.compile(r"'([^'\s]+)'|\"([^\"\s]+)\"")


def diagnostics(document: Document) -> dict[str, list[types.Diagnostic]]:
    """Return file address to diagnostics; the document's own address is always there.

    They are those of the answered text: a document that was edited since keeps them until it is answered.
    """
    found: dict[str, list[types.Diagnostic]] = defaultdict(list, {document.uri: []})
    for problem in _problems(document):
        uri = from_fs_path(problem.file) if problem.file else document.uri
        found[uri or document.uri].append(_of_problem(problem, document))
    found[document.uri] += _of_remarks(document)
    return dict(found)


def _problems(document: Document) -> list[Problem]:
    problems = [*document.settings.problems, *document.launch_problems]
    if len(document.text.text) > MAX_CHARACTERS:
        text = f"larger than {MAX_CHARACTERS // 10**6} million characters: not analysed"
        problems.append(Problem("too-large", text, 1, severity="information"))
    if document.answer is not None:
        problems += document.answer.problems
    return list(dict.fromkeys(problems))


def _of_problem(problem: Problem, document: Document) -> types.Diagnostic:
    parts = [problem.text]
    if problem.details and problem.code != "compile":
        parts.append(problem.details.rstrip())
    if problem.hint:
        parts.append(f"→ {problem.hint}")
    if problem.file:
        where = types.Range(*(types.Position(max(0, (problem.line or 1) - 1), end) for end in (0, 1000)))
    else:
        where = _where(problem, document)
    return _diagnostic(where, "\n".join(parts), problem.code, _SEVERITIES[problem.severity])


def _where(problem: Problem, document: Document) -> types.Range:
    """Return the word that a problem quotes, else the line, else the first line."""
    if problem.line is None:
        return document.text.range(1, 0, len(document.text.line(1)))
    for quoted in _QUOTED.finditer(problem.text):
        word = quoted[1] or quoted[2]
        if word in document.text.line(problem.line):
            return document.text.word(problem.line, word)
    content = document.text.line(problem.line)
    return document.text.range(problem.line, len(content) - len(content.lstrip()), len(content.rstrip()))


def _of_remarks(document: Document) -> list[types.Diagnostic]:
    """Return one diagnostic per line and kind of trouble; several launches and GPUs share it."""
    groups: dict[tuple[str, int, str], list[tuple[Remark, Facts]]] = defaultdict(list)
    for shown in document.answer.shown if document.answer is not None else ():
        for remark in shown.facts.remarks:
            line = remark.line or _head_line(document, shown.facts)
            if line is not None and not _ignored(document, line, remark.code):
                what = remark.text.partition(" takes ")[0] if remark.line else remark.code
                groups[remark.code, line, what].append((remark, shown.facts))
    every = {shown.facts.gpu for shown in document.answer.shown} if document.answer is not None else set()
    return [_of_group(document, line, group, len(every)) for (_, line, _), group in groups.items()]


def _head_line(document: Document, facts: Facts) -> int | None:
    return next((p.line for p in document.places if p.name == facts.kernel), None)


def _ignored(document: Document, line: int, code: str) -> bool:
    codes = ignored(document.text.line(line))
    return codes is not None and (not codes or code in codes)


def _of_group(
    document: Document, line: int, group: list[tuple[Remark, Facts]], gpus: int
) -> types.Diagnostic:
    remark, facts = max(group, key=lambda pair: pair[0].share)
    text = remark.text
    if remark.line and remark.share >= 0.005:
        text += f" The line takes {remark.share:.0%} of the time.".replace("%", " %")
    names = list(dict.fromkeys(gpu_name(f.gpu) for _, f in group))
    if gpus > 1:
        text += f" ({names[0] if len(names) == 1 else f'{len(names)} GPUs, here {gpu_name(facts.gpu)}'})"
    where = document.text.whole(line) if remark.line else document.text.word(line, facts.kernel)
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(document.uri, document.text.whole(one.line)), one.text
        )
        for one in remark.related
    ]
    grave = severity(remark.code, remark.share)
    message = f"{text}\n{EXPLANATIONS[remark.code]}"
    return _diagnostic(where, message, remark.code, grave, related)


def _diagnostic(
    where: types.Range,
    text: str,
    code: str,
    grave: types.DiagnosticSeverity,
    related: list[types.DiagnosticRelatedInformation] | None = None,
) -> types.Diagnostic:
    return types.Diagnostic(
        where,
        text,
        severity=grave,
        code=code,
        code_description=types.CodeDescription(address(code)),
        source=SOURCE,
        related_information=related or None,
    )


def at_file(problem: Problem, file: Path) -> Problem:
    """Return a problem moved to a file's first mention of its code's key, for settings that are wrong."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        lines = []
    pattern = re.compile(rf"^\s*{re.escape(problem.code)}\s*=")
    line = next((n for n, content in enumerate(lines, start=1) if pattern.match(content)), 1)
    return Problem(problem.code, problem.text, line, str(file), problem.hint, problem.details)
