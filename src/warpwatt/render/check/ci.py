"""Exceeded limits for CI servers: annotations of GitHub Actions, and JUnit XML, a suite per budget."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from warpwatt.core.budget import CheckResult, Failure, Verdict
from warpwatt.render.check.words import hottest_text, sentence, summary
from warpwatt.render.github import annotation, repository_path

if TYPE_CHECKING:
    from warpwatt.render.context import Context


def render_github(result: CheckResult, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
    """Return an error for every limit that is exceeded and every budget that failed, then a notice."""
    return "".join(f"{line}\n" for line in _annotations(result))


def _annotations(result: CheckResult) -> Iterator[str]:
    for verdict in result.exceeded:
        yield _exceeded(result, verdict)
    for failure in result.failures:
        error = failure.error
        file, line = (error.file, error.line) if error.file else (result.file, failure.line)
        text = f"{failure.budget}: {error}" + (f"\nfix: {error.hint}" if error.hint else "")
        title = f"{failure.budget} could not be checked"
        yield annotation("error", text, file=repository_path(file), line=line, title=title)
    yield annotation("notice", summary(result), file=repository_path(result.file), title="warpwatt check")


def _exceeded(result: CheckResult, verdict: Verdict) -> str:
    line = verdict.hottest
    file, number = (line.file, line.line) if line is not None else (result.file, verdict.limit.line)
    hottest = hottest_text(verdict)
    text = sentence(result, verdict) + (f"\ncosts most: {hottest}" if hottest else "")
    title = f"{verdict.budget}: {verdict.limit.quantity} over budget"
    return annotation("error", text, file=repository_path(file), line=number, title=title)


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold."""


def render_junit(result: CheckResult, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
    """Return the document with a final newline."""
    root = ET.Element(
        "testsuites",
        name="warpwatt check",
        tests=str(len(result.verdicts) + len(result.failures)),
        failures=str(len(result.exceeded)),
        errors=str(len(result.failures)),
    )
    for name, group in groupby(result.verdicts, key=lambda verdict: verdict.budget):
        _suite(root, result, name, list(group))
    for failure in result.failures:
        _failed(root, failure)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(root: ET.Element, result: CheckResult, name: str, verdicts: list[Verdict]) -> None:
    exceeded = sum(verdict.exceeded for verdict in verdicts)
    suite = ET.SubElement(root, "testsuite", name=_clean(name), tests=str(len(verdicts)))
    suite.attrib |= {"failures": str(exceeded), "errors": "0"}
    for verdict in verdicts:
        limit, gpu = verdict.limit, verdict.prediction.case.gpu.name
        title = f"{limit.bound} {limit.quantity} on {gpu}"
        case = ET.SubElement(suite, "testcase", name=_clean(title), classname=_clean(verdict.kernel))
        if verdict.exceeded:
            said = sentence(result, verdict)
            failure = ET.SubElement(case, "failure", message=_clean(said), type="budget exceeded")
            failure.text = _clean(f"{said}\ncosts most: {hottest_text(verdict)}")
    if exceeded:
        ET.SubElement(suite, "system-out").text = _clean(summary(result))


def _failed(root: ET.Element, failure: Failure) -> None:
    suite = ET.SubElement(root, "testsuite", name=_clean(failure.budget), tests="1", failures="0", errors="1")
    case = ET.SubElement(suite, "testcase", name="prediction", classname=_clean(failure.budget))
    kind = type(failure.error).__name__
    error = ET.SubElement(case, "error", message=_clean(str(failure.error)), type=kind)
    error.text = _clean(
        "\n".join(filter(None, (str(failure.error), failure.error.details, failure.error.hint)))
    )


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
