"""Formats by name, each imported only when it is asked for: text must not pay for HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from warpwatt.core.errors import UsageError

if TYPE_CHECKING:
    from warpwatt.core.budget import CheckResult
    from warpwatt.core.comparison import ComparisonSet
    from warpwatt.core.prediction import ApplicationPrediction, Prediction
    from warpwatt.core.ranking import Ranking
    from warpwatt.render.context import Context
    from warpwatt.run.result import RunResult

    Renderer = Callable[[Sequence[Prediction], Context], str]
    ApplicationRenderer = Callable[[Sequence[ApplicationPrediction], Context], str]
    CheckRenderer = Callable[[CheckResult, Context], str]
    ComparisonRenderer = Callable[[ComparisonSet, Context], str]
    RankingRenderer = Callable[[Sequence[Ranking], Context], str]
    RunRenderer = Callable[[RunResult, Context], str]

FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.text:render",
    "explain": "warpwatt.render.explain:render",
    "json": "warpwatt.render.json:render",
    "brief": "warpwatt.render.brief:render",
    "csv": "warpwatt.render.csv:render",
    "ncu-csv": "warpwatt.render.ncu.csv:render",
    "ncu-details-csv": "warpwatt.render.ncu.csv:render_details",
    "ncu-json": "warpwatt.render.ncu.json:render",
    "html": "warpwatt.render.html:render",
}
"""Format to ``module:function`` for sequences of predictions."""
APPLICATION_FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.application:render_text",
    "json": "warpwatt.render.application:render_json",
}
"""Format to ``module:function`` for sequences of application predictions."""
CHECK_FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.check.text:render",
    "json": "warpwatt.render.check.json:render",
    "github": "warpwatt.render.check.ci:render_github",
    "junit": "warpwatt.render.check.ci:render_junit",
}
"""Format to ``module:function`` for the result of ``warpwatt check``."""
COMPARISON_FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.compare.text:render",
    "json": "warpwatt.render.compare.json:render",
    "html": "warpwatt.render.compare.page:render",
    "github": "warpwatt.render.compare.github:render",
    "markdown": "warpwatt.render.compare.markdown:render",
}
"""Format to ``module:function`` for the result of ``warpwatt compare``."""

RANKING_FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.rank.text:render",
    "json": "warpwatt.render.rank.json:render",
}
"""Format to ``module:function`` for the result of ``warpwatt rank``."""

RUN_FORMATS: Mapping[str, str] = {
    "text": "warpwatt.render.run.text:render",
    "json": "warpwatt.render.run.json:render",
    "html": "warpwatt.render.run.page:render",
    "trace": "warpwatt.render.run.trace:render",
}
"""Format to ``module:function`` for the result of ``warpwatt run``."""


def renderer(name: str) -> Renderer:
    """Return the renderer of a format.

    Raises
    ------
    UsageError
        If there is no such format.

    >>> renderer("text").__module__
    'warpwatt.render.text'
    """
    return load(FORMATS, name)


def application_renderer(name: str) -> ApplicationRenderer:
    """Return the renderer of a format for applications; raise :class:`UsageError` where there is none."""
    return load(APPLICATION_FORMATS, name)


def check_renderer(name: str) -> CheckRenderer:
    """Return the renderer of a format for budgets that were checked."""
    return load(CHECK_FORMATS, name)


def comparison_renderer(name: str) -> ComparisonRenderer:
    """Return the renderer of a format for comparisons."""
    return load(COMPARISON_FORMATS, name)


def ranking_renderer(name: str) -> RankingRenderer:
    """Return the renderer of a format for rankings."""
    return load(RANKING_FORMATS, name)


def run_renderer(name: str) -> RunRenderer:
    """Return the renderer of a format for a program's run."""
    return load(RUN_FORMATS, name)


def load(formats: Mapping[str, str], name: str) -> Callable[..., Any]:
    """Import and return what renders a format; raise :class:`UsageError` where there is none."""
    if name not in formats:
        raise UsageError(f"no output format {name!r}", hint=f"formats: {' '.join(formats)}")
    module, _, function = formats[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
