"""The table of GPUs, from the data that predictions read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs._pages.text import table

from warpwatt.core.units import binary_bytes, si
from warpwatt.gpus import find_many, missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.core.gpu import Gpu

_HEAD = """---
hide: [toc]
---

# GPUs

`warpwatt gpus` lists them, `warpwatt gpus show NAME` shows every number with its source,
`--gpu all` means all that are complete.
A name is a device's name or an alias, with or without the maker's words (`rtx4070`, `GeForce RTX 4070`).
A board of your own is [one TOML file](../how-to/custom-gpu.md).
"""


def pages() -> Mapping[str, str]:
    """Return the page."""
    heads = ("GPU", "alias", "CC", "SMs", "boost", "memory", "bandwidth", "L2", "power limit")
    found = sorted(find_many("all"), key=lambda gpu: (_version(gpu), gpu.name), reverse=True)
    parts, lacking = [_HEAD], [gpu for gpu in found if missing(gpu)]
    for arch in dict.fromkeys(gpu.arch for gpu in found):
        rows = [_row(gpu) for gpu in found if gpu.arch == arch and gpu not in lacking]
        if rows:
            parts += [f"## {arch}\n", table(heads, rows)]
    if lacking:
        rows = [(gpu.name, ", ".join(missing(gpu))) for gpu in lacking]
        parts += ["## Not complete\n", "Predictions for these need what is missing, in a user file.\n"]
        parts.append(table(("GPU", "not known"), rows))
    return {"reference/gpus.md": "\n".join(parts)}


def _version(gpu: Gpu) -> float:
    return float(gpu.capability.version)


def _row(gpu: Gpu) -> tuple[str, ...]:
    return (
        gpu.name,
        ", ".join(alias.lower() for alias in gpu.aliases),
        gpu.capability.version,
        str(gpu.sm_count),
        si(gpu.boost_clock, "Hz"),
        f"{binary_bytes(gpu.memory_size or 0)} {gpu.memory_type}",
        si(gpu.memory_bandwidth, "B/s"),
        binary_bytes(gpu.l2_size or 0),
        "" if gpu.power_limit is None else si(gpu.power_limit, "W"),
    )
