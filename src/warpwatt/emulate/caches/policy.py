"""How the caches of a GPU behave, from the table of compute capabilities in ``caches.toml``."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from warpwatt.core.arguments import Buffer
from warpwatt.core.execution import Occupancy
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import Launch

LINE = 128


@dataclass(frozen=True, slots=True)
class Policy:
    """Bytes that one L2 miss fetches, usable L2 in bytes, whether partly written sectors are completed.

    ``dirty_bytes`` are those moved last of which L2 has not yet written back what was written. Where it is
    known how many bytes of lines ``left_by_flush`` are dirty when a launch begins, ``dirty_limit`` are those
    that may be, give or take ``dirty_spread``; ``dirty_stay`` and ``exchange`` are sizes of L2: what has
    passed when a dirty line must leave, and when most of the others have left.
    """

    dram_granule: int
    l2_bytes: float
    partial_fill: bool
    dirty_bytes: float
    left_by_flush: float = 0.0
    dirty_limit: float = math.inf
    dirty_spread: float = 1.0
    dirty_stay: float = 1.0
    exchange: float = 1.0


def policy(gpu: Gpu) -> Policy:
    """Return how the caches of a GPU behave.

    Error correction in whole sectors is a property of HBM (its memory type says so).

    >>> from warpwatt.gpus import find
    >>> policy(find("a100-sxm4-40gb")).dram_granule, policy(find("rtx3090")).dram_granule
    (64, 32)
    """
    row = {**_table()["any"], **_table().get(gpu.capability.version, {})}
    return Policy(
        dram_granule=row["dram_granule"]["value"],
        l2_bytes=row["l2_share"]["value"] * gpu.l2_size,
        partial_fill=gpu.memory_type.startswith("HBM"),
        dirty_bytes=row["dirty_share"]["value"] * gpu.l2_size,
        **_flushed(row, gpu.l2_size),
    )


def _flushed(row: dict[str, Any], l2_size: int) -> dict[str, float]:
    """Return what is known of dirty lines after a flush, nothing where that was not measured."""
    if "left_by_flush" not in row:
        return {}
    shares = {name: row[name]["value"] * l2_size for name in ("left_by_flush", "dirty_limit", "dirty_spread")}
    return shares | {name: row[name]["value"] for name in ("dirty_stay", "exchange")}


def l1_capacity(gpu: Gpu, residency: Occupancy) -> float:
    """Return the bytes of L1 left beside the resident blocks' shared memory; 0 where loads bypass L1."""
    row = {**_table()["any"], **_table().get(gpu.capability.version, {})}
    if row["loads_in_l1"]["value"] is False or gpu.l1_shared_per_sm is None:
        return 0.0
    if not gpu.l1_shared_unified:
        return float(gpu.l1_shared_per_sm - gpu.capability.max_shared_per_sm)
    used = residency.blocks_per_sm * residency.shared_per_block
    carveout = min((c for c in gpu.capability.shared_carveouts if c >= used), default=used)
    return float(max(0, gpu.l1_shared_per_sm - carveout))


def buffer_size(launch: Launch, buffer: str) -> float:
    """Return the bytes of a buffer by the name the launch has for it, infinite if that is not known."""
    argument = launch.arguments.get(buffer)
    return float(argument.nbytes) if isinstance(argument, Buffer) and argument.nbytes > 0 else math.inf


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("caches.toml").read_text(encoding="utf-8"))
