"""Block dispatch: the blocks that a GPU starts per cycle, whatever room its SMs have.

One work distributor serves the whole chip, so a launch of very many very short blocks takes as long as it
takes to hand them out.
"""

from __future__ import annotations

import math
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from warpwatt.core.gpu import Gpu

OWN_SPREAD, BORROWED_SPREAD = 0.1, 0.3
"""Standard deviation of the logarithm of the rate: V100's is half of H200's."""


def dispatch_rate(gpu: Gpu) -> tuple[float, float]:
    """Return (blocks started per SM clock on the whole chip, spread).

    Capabilities that nobody measured take the rate of a relative; unknown ones that of the newest.

    >>> from warpwatt.gpus import find
    >>> dispatch_rate(find("l40")), dispatch_rate(find("t4"))
    ((0.76, 0.1), (0.82, 0.3))
    """
    table, version = _table(), gpu.capability.version
    if version in table:
        return table[version]["blocks_per_cycle"]["value"], OWN_SPREAD
    lender = table["relatives"].get(version, "9.0")
    return table[lender]["blocks_per_cycle"]["value"], BORROWED_SPREAD


def warp_rate(gpu: Gpu) -> float:
    """Return the warps started per SM clock on the whole chip, infinity where nobody saw them bind.

    >>> from warpwatt.gpus import find
    >>> round(warp_rate(find("rtx3080")), 2), warp_rate(find("l40"))
    (4.76, inf)
    """
    row = _table().get(gpu.capability.version, {})
    return row["warps_per_sm_cycle"]["value"] * gpu.sm_count if "warps_per_sm_cycle" in row else math.inf


def dispatch_cycles(gpu: Gpu, blocks: int, warps: int = 1) -> float:
    """Return the SM cycles from the start of the first block of so many warps to that of the last of a grid.

    >>> from warpwatt.gpus import find
    >>> dispatch_cycles(find("l40"), 1), dispatch_cycles(find("l40"), 761)
    (0.0, 1000.0)
    >>> round(dispatch_cycles(find("rtx3080"), 16384, 8) / dispatch_cycles(find("rtx3080"), 16384), 2)
    1.38
    """
    return (blocks - 1) / min(dispatch_rate(gpu)[0], warp_rate(gpu) / warps)


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    text = files("warpwatt.models").joinpath("dispatch.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
