"""DRAM pages: what it costs that a miss of L2 fetches little beside what the others fetch.

A channel opens a page (a row of a bank) at most every tRRD. Where accesses lie further apart than a page,
each visit moves only the bytes that are asked for side by side; where those pass in less time than tRRD, the
activations are the limit.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from warpwatt.core.gpu import Clocks, Gpu


def visit_bytes(gpu: Gpu, clocks: Clocks) -> float:
    """Return the bytes a channel moves while it opens a page, 0 where its timings are not known.

    >>> from warpwatt.gpus import default_clocks, find
    >>> gpu = find("rtx-3070")
    >>> round(visit_bytes(gpu, default_clocks(gpu)))
    96
    """
    row = _table().get(gpu.memory_type)
    if row is None:
        return 0.0
    rate = 2.0 * clocks.memory * row["channel_bits"]["value"] / 8
    return float(rate * row["activate_ns"]["value"] * 1e-9)


def slowdown(run: float, visit: float) -> float:
    """Return how much longer DRAM takes for bytes that come ``run`` at a time (see :func:`visit_bytes`).

    >>> slowdown(32.0, 96.0), slowdown(128.0, 96.0), slowdown(float("inf"), 96.0)
    (3.0, 1.0, 1.0)
    """
    return max(1.0, visit / run) if run > 0 else 1.0


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, Any]]:
    text = files("warpwatt.models").joinpath("dram.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    return {name: row for name, row in found.items() if name != "sources"}
