"""A run as JSON: rows, spans, and every prediction in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warpwatt.render.document import prediction_document, quantity_document
from warpwatt.render.json import Schema, dump, header

if TYPE_CHECKING:
    from warpwatt.render.context import Context
    from warpwatt.run.result import CopyRow, GpuRun, KernelRow, RunResult
    from warpwatt.run.timeline import Span

SCHEMA = Schema("run", "1.1.0")


def render(result: RunResult, context: Context) -> str:
    """Return the run; its launches name predictions by their places in ``predictions``."""
    predictions = [p for run in result.runs for p in run.predictions]
    places = {id(p): number for number, p in enumerate(predictions)}
    document = {
        **header(context, SCHEMA),
        "program": result.program,
        "status": result.status,
        "ended": result.ended,
        "launches": result.launches,
        "executed": {
            "warp_instructions": result.executed_instructions,
            "seconds": result.executed_seconds,
            "repeated": result.repeated,
            "unneeded": result.unneeded,
        },
        "borrowed": result.borrowed,
        "timing_only": result.timing_only,
        "unknown_reads": result.unknown_reads,
        "peak_memory": result.peak_memory,
        "values": dict(result.values),
        "unknown_from": result.unknown_from,
        "not_computed": result.not_computed,
        "read_lost": result.read_lost,
        "unsupported": [{"function": name, "called_at": at} for name, at in result.unsupported],
        "failures": list(result.failures),
        "runs": [_run(run, places) for run in result.runs],
        "predictions": [prediction_document(p) for p in predictions],
    }
    return dump(document)


def _run(run: GpuRun, places: dict[int, int]) -> dict[str, Any]:
    return {
        "gpu": run.gpu,
        "time": run.end,
        "busy": run.busy,
        "idle": run.idle,
        "host": run.host,
        "energy": run.energy,
        "idle_energy": run.idle_energy,
        "mean_power": run.mean_power,
        "peak_power": run.peak,
        "sensor_power": run.reading,
        "kernels": [_kernel(row, places) for row in run.kernels],
        "copies": [_copies(row) for row in run.copies],
        "not_predicted": run.not_predicted,
        "launches": [None if p is None else places[id(p)] for p in run.of_launch],
        "spans": [_span(span) for span in run.spans],
    }


def _kernel(row: KernelRow, places: dict[int, int]) -> dict[str, Any]:
    return {
        "name": row.name,
        "calls": row.calls,
        "time": quantity_document(row.time),
        "mean": row.mean,
        "energy": quantity_document(row.energy),
        "power": row.power,
        "bottleneck": row.limiter,
        "library": row.is_library,
        "prediction": None if row.prediction is None else places[id(row.prediction)],
    }


def _copies(row: CopyRow) -> dict[str, Any]:
    return {
        "kind": str(row.kind), "calls": row.calls, "time": row.seconds, "bytes": row.bytes,
        "energy": row.energy,
    }  # fmt: skip


def _span(span: Span) -> dict[str, Any]:
    return {
        "kind": str(span.kind), "name": span.name, "stream": span.stream, "start": span.start,
        "end": span.end, "energy": span.energy, "launch": span.launch or None, "bytes": span.bytes or None,
    }  # fmt: skip
