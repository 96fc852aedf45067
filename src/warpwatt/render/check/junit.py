"""Verdicts as JUnit XML: a suite per budget, a test case per limit, in the form all CI servers read."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from warpwatt.render.check.words import hottest_text, sentence, summary

if TYPE_CHECKING:
    from warpwatt.core.budget import CheckResult, Failure, Verdict
    from warpwatt.render.context import Context

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold."""


def render(result: CheckResult, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
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
