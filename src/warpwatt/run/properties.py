"""What a GPU says of itself to a program: the fields of ``cudaDeviceProp``, from our data of the GPU."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu

_UNKNOWN_MEMORY = 16 << 30
"""Bytes of memory where the data of a GPU lack it."""
_CLUSTERS_FROM = 9


def properties_text(gpu: Gpu) -> str:
    """Return lines ``field=value``; commas between the numbers of an array.

    >>> from warpwatt.gpus import find
    >>> lines = properties_text(find("h200")).splitlines()
    >>> [line for line in lines if line.startswith(("name", "major", "multiP", "maxGridS"))]
    ['name=NVIDIA H200', 'major=9', 'multiProcessorCount=132', 'maxGridSize=2147483647,65535,65535']
    """
    values = _own(gpu) | _common()
    return "".join(f"{key}={_text(value)}\n" for key, value in values.items())


def memory_bytes(gpu: Gpu) -> int:
    """Return how much memory programs may allocate."""
    return gpu.memory_size or _UNKNOWN_MEMORY


def _own(gpu: Gpu) -> dict[str, int | str | list[int]]:
    """Return what differs between GPUs: sizes in bytes, clocks in kHz."""
    cap, (major, minor) = gpu.capability, map(int, gpu.capability.version.split("."))
    doubles = max(1, cap.fp64_lanes)
    return {
        "name": gpu.name,
        "totalGlobalMem": memory_bytes(gpu),
        "sharedMemPerBlock": cap.static_shared_limit,
        "regsPerBlock": cap.max_registers_per_block,
        "warpSize": cap.warp_size,
        "maxThreadsPerBlock": cap.max_threads_per_block,
        "major": major,
        "minor": minor,
        "multiProcessorCount": gpu.sm_count,
        "ClockRate": round(gpu.boost_clock / 1e3),
        "MemoryClockRate": round(gpu.memory_clock / 1e3),
        # bandwidth = 2 × clock × bits / 8
        "memoryBusWidth": round(gpu.memory_bandwidth * 4 / gpu.memory_clock),
        "l2CacheSize": gpu.l2_size,
        "persistingL2CacheMaxSize": gpu.l2_size * 3 // 4 if major >= 8 else 0,
        "maxThreadsPerMultiProcessor": cap.max_threads_per_sm,
        "sharedMemPerMultiprocessor": cap.max_shared_per_sm,
        "regsPerMultiprocessor": cap.registers_per_sm,
        "sharedMemPerBlockOptin": cap.max_shared_per_block,
        "maxBlocksPerMultiProcessor": cap.max_blocks_per_sm,
        "reservedSharedMemPerBlock": cap.reserved_shared_per_block,
        "SingleToDoublePrecisionPerfRatio": round(cap.fp32_lanes / doubles),
        "clusterLaunch": int(major >= _CLUSTERS_FROM),
    }


@lru_cache(maxsize=1)
def _common() -> dict[str, int | list[int]]:
    """Return what all GPUs say."""
    text = Path(__file__).with_name("properties.toml").read_text(encoding="utf-8")
    found: dict[str, int | list[int]] = tomllib.loads(text)["properties"]
    return found


def _text(value: int | str | list[int]) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
