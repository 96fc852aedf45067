"""Probes of latency (``latencies.toml``): chains of loads and atomics, barriers, and launches.

Pointer chasing is by Saavedra and Smith (1995); Alavani 2023, section 3.3, and RRZE-HPC's gpu-latency use it
on GPUs. Which level answers is up to the chain that the buffer holds: its footprint and stride.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from warpwatt.lab.measure.microbench import ptx
from warpwatt.lab.measure.microbench.model import Expected, Probe

STEPS = 60
EMPTY = "micro_empty"
"""Name of the kernel that does nothing."""
SPACING = "spacing"
"""Bytes from one thread's start to the next one's."""


def probes() -> tuple[Probe, ...]:
    """Return the chains."""
    return tuple(probe for probe in _table() if probe.group == "latency")


def barriers() -> tuple[Probe, ...]:
    """Return the probes of barriers and fences, and the kernel that does nothing."""
    meaning = "launch and dispatch of blocks: a kernel that does nothing"
    empty = Probe(EMPTY, "launch", meaning, ptx.empty(EMPTY), {}, (), 0)
    return (*(probe for probe in _table() if probe.group == "barrier"), empty)


@cache
def _table() -> tuple[Probe, ...]:
    text = files(__package__).joinpath("latencies.toml").read_text(encoding="utf-8")
    return tuple(_probe(name, **row) for name, row in tomllib.loads(text).items())


def _probe(name: str, *, sass: str, step: list[str], meaning: str, **row: Any) -> Probe:
    """Return the probe of a table; chains depend from pass to pass, barriers need not."""
    group = row.get("group", "latency")
    is_chain = group == "latency"
    frame = ptx.Frame(
        registers=row.get("registers", []),
        before=row.get("before", []),
        body=step * STEPS,
        keep=[tuple(row["keep"])] if is_chain else [],
        parameters=row.get("parameters", [SPACING] if is_chain else []),
    )
    expected = {75: Expected({sass: STEPS}, row.get("others", 6), chains=1 if is_chain else None)}
    return Probe.of(name, group, meaning, frame, expected, STEPS, needs=frozenset(row.get("needs", ())))
