"""Block dispatch: the blocks that a GPU starts per cycle or second, whatever room its SMs have.

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


def dispatch_rate(gpu: Gpu, sm_clock: float) -> tuple[float, float]:
    """Return (blocks started per SM clock on the whole chip, spread) at an SM clock in hertz.

    Capabilities that nobody measured take the rate of a relative; unknown ones that of the newest. GM204's
    distributor keeps its own pace, whatever the SM clock.

    >>> from warpwatt.gpus import find
    >>> dispatch_rate(find("l40"), 2.49e9), dispatch_rate(find("t4"), 1.59e9)
    ((0.76, 0.1), (0.82, 0.3))
    >>> dispatch_rate(find("gtx980"), 1e9)[0] / dispatch_rate(find("gtx980"), 0.5e9)[0]
    0.5
    """
    table, version = _table(), gpu.capability.version
    own = version in table
    row = table[version if own else table["relatives"].get(version, "9.0")]
    if "blocks_per_second" in row:
        rate = row["blocks_per_second"]["value"] / sm_clock
    else:
        rate = row["blocks_per_cycle"]["value"]
    return rate, OWN_SPREAD if own else BORROWED_SPREAD


def warp_rate(gpu: Gpu) -> float:
    """Return the warps started per SM clock on the whole chip, infinity where nobody saw them bind.

    >>> from warpwatt.gpus import find
    >>> round(warp_rate(find("rtx3080")), 2), warp_rate(find("l40"))
    (4.76, inf)
    """
    row = _table().get(gpu.capability.version, {})
    return row["warps_per_sm_cycle"]["value"] * gpu.sm_count if "warps_per_sm_cycle" in row else math.inf


def dispatch_cycles(gpu: Gpu, sm_clock: float, blocks: int, warps: int = 1) -> float:
    """Return the SM cycles from the start of the first block of so many warps to that of the last of a grid.

    >>> from warpwatt.gpus import find
    >>> dispatch_cycles(find("l40"), 2.49e9, 1), dispatch_cycles(find("l40"), 2.49e9, 761)
    (0.0, 1000.0)
    >>> one, eight = (dispatch_cycles(find("rtx3080"), 1.71e9, 16384, warps) for warps in (1, 8))
    >>> round(eight / one, 2)
    1.38
    """
    return (blocks - 1) / min(dispatch_rate(gpu, sm_clock)[0], warp_rate(gpu) / warps)


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    text = files("warpwatt.models").joinpath("dispatch.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
