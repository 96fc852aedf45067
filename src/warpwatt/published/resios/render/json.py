"""A port as JSON: versioned, every number in SI units, predictions as in ``warpwatt predict``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warpwatt.core.estimate import Estimate
from warpwatt.render.document import prediction_document
from warpwatt.render.json import Schema, dump

if TYPE_CHECKING:
    from warpwatt.published.resios.port import Agreement, Port, PortedNest
    from warpwatt.published.resios.port.result import Costs
    from warpwatt.render.context import Context

SCHEMA = Schema("port", "2.0.0")


def render(ports: Sequence[Port], agreements: Sequence[Agreement], context: Context) -> str:
    """Return the document with a final newline."""
    return dump(
        {
            "$schema": SCHEMA.url,
            "schema_version": SCHEMA.version,
            "tool": {"name": "warpwatt", "version": context.version},
            "command": context.command,
            "ports": [_port(port) for port in ports],
            "check": [{**asdict(one), "exact": one.exact} for one in agreements],
        }
    )


def _port(port: Port) -> dict[str, Any]:
    function, seconds = port.bound.function, port.sequential.seconds
    return {
        "function": {"name": function.name, "file": function.file, "line": function.line},
        "gpu": port.gpu.name,
        "arguments": dict(port.bound.values),
        "arrays": {name: list(shape) for name, shape in port.bound.shapes.items()},
        "verdict": port.verdict.name.lower(),
        "sequential": asdict(port.sequential),
        "copied_to_device": dict(port.copied_in),
        "copied_back": dict(port.copied_out),
        "resios": _costs(port.resios, seconds),
        "model": None if port.model is None else _costs(port.model, seconds),
        "nests": [_nest(nest) for nest in port.nests],
        "cuda": port.cuda,
        "warnings": list(port.warnings),
    }


def _costs(costs: Costs, sequential: float | None) -> dict[str, Any]:
    whole = {"cold": costs.cold, "warm": costs.warm, "resident": costs.resident}
    return {
        "kernels": _estimate(costs.kernels),
        "launches": _estimate(costs.launches),
        "copies": _estimate(costs.copies),
        "context": None if costs.context is None else _estimate(costs.context),
        "speedup": {
            name: None if sequential is None or e is None else sequential / e.value
            for name, e in whole.items()
        },
        "calls_to_break_even": costs.calls_to_break_even(sequential),
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "unit": estimate.unit,
        "low": estimate.low,
        "high": estimate.high,
        "source": estimate.source.value,
    }


def _nest(nest: PortedNest) -> dict[str, Any]:
    found = nest.prognosis
    return {
        "loops": [
            {"variable": loop.loop.variable.name, "line": loop.loop.line, "trips": loop.most}
            for loop in nest.mapping.loops
        ],
        "block": [found.block.x, found.block.y, found.block.z],
        "grid": [found.grid.x, found.grid.y, found.grid.z],
        "warps_per_block": {**asdict(found.warps), "chosen": found.warps.chosen, "rule": found.warps.rule},
        "prognosis": {
            "seconds": found.seconds,
            "ilp": found.parallelism,
            "tlp": found.threads_ready,
            "arithmetic_intensity": found.intensity,
            "registers": found.registers,
            "spills": found.spills,
            "reloads": found.reloads,
            "bytes": found.bytes,
            "flops": found.flops,
            "bandwidth": found.bandwidth,
            "flop_rate": found.flop_rate,
            "shared": [asdict(one) for one in found.shared],
            "shared_left_out": [asdict(one) for one in found.left_out],
            "accesses": [asdict(one) for one in found.accesses],
            "policy": found.policy,
            "simulated_warps": found.simulated,
        },
        "kernel": nest.generated.name,
        "launches": nest.launches,
        "all_launches": None if nest.predicted is None else _estimate(nest.predicted),
        "alternatives": [asdict(one) for one in nest.alternatives],
        "prediction": None if nest.prediction is None else prediction_document(nest.prediction),
        "note": nest.note,
    }
