"""A run in the trace event format, which Perfetto and chrome://tracing open.

Complete events in microseconds, a process per GPU, a thread per stream ("Trace Event Format", Google, 2016).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from warpwatt.frontend.select import without_parameters
from warpwatt.render.json import finite

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.run.result import GpuRun, RunResult
    from warpwatt.run.timeline import Span

MICRO = 1e6


def render(result: RunResult, context: Context) -> str:
    """Return the spans of every GPU."""
    events = [event for number, run in enumerate(result.runs, 1) for event in _events(number, run)]
    made_by = {"tool": f"warpwatt {context.version}", "command": context.command}
    document = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": made_by}
    return json.dumps(finite(document), ensure_ascii=False, allow_nan=False) + "\n"


def _events(process: int, run: GpuRun) -> Iterator[dict[str, Any]]:
    yield _name("process_name", process, 0, f"{run.gpu} (predicted)")
    for stream in dict.fromkeys(span.stream for span in run.spans):
        yield _name("thread_name", process, stream, f"stream {stream}")
    for span in run.spans:
        yield _event(process, span)


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _event(process: int, span: Span) -> dict[str, Any]:
    facts: dict[str, Any] = {"energy_J": span.energy}
    if span.launch:
        facts["launch"] = span.launch
    if span.bytes:
        facts["bytes"] = span.bytes
    return {
        "ph": "X", "name": without_parameters(span.name), "cat": str(span.kind), "pid": process,
        "tid": span.stream, "ts": span.start * MICRO, "dur": span.seconds * MICRO, "args": facts,
    }  # fmt: skip
