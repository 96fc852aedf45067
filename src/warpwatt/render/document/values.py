"""Quantities, extents, traffic and places as dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.estimate import Estimate
    from warpwatt.core.execution import Traffic
    from warpwatt.core.launch import Dim3
    from warpwatt.core.program import SourceLine

Json = dict[str, Any]


def quantity_document(estimate: Estimate) -> Json:
    """Return ``{value, low, high, unit, source}``; low and high are the 10 % and 90 % quantiles.

    >>> from warpwatt.core.estimate import Estimate
    >>> quantity_document(Estimate.exact(2.0, "s"))
    {'value': 2.0, 'low': 2.0, 'high': 2.0, 'unit': 's', 'source': 'modelled'}
    """
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "unit": estimate.unit,
        "source": str(estimate.source),
    }


def extent_document(extent: Dim3) -> list[int]:
    """Return x, y and z."""
    return [extent.x, extent.y, extent.z]


def traffic_document(traffic: Traffic) -> Json:
    """Return bytes read and written."""
    return {"read": traffic.read, "written": traffic.written}


def place_document(line: SourceLine | None) -> Json | None:
    """Return file and line, None for no line."""
    return None if line is None else {"file": line.file, "line": line.line}


def sorted_document(values: Mapping[str, float]) -> Json:
    """Return values by name, sorted."""
    return dict(sorted(values.items()))
