"""Exceeded limits as annotations of GitHub Actions, on the source line that costs most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.render.check.words import hottest_text, sentence, summary
from warpwatt.render.github import annotation, repository_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.budget import CheckResult, Verdict
    from warpwatt.render.context import Context


def render(result: CheckResult, context: Context) -> str:  # noqa: ARG001 - every renderer's signature
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
