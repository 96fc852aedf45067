"""Parameters of the memory model for a GPU: the paper's for the GTX 980, others from measured facts."""

from __future__ import annotations

from functools import lru_cache

from warpwatt.core.gpu import Gpu
from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile
from warpwatt.models.latency import FALLBACK_CYCLES
from warpwatt.models.roofs import DRAM_EFFICIENCY, SECTOR_BYTES, typical_l2_bytes
from warpwatt.published.wang_chu.memory import MemoryParameters

FOLDER = DATA / "wangchu"
ON_CHIP = 277.32 / 222.0
"""What of the DRAM latency stays on the core clock, over the L2 latency: equation (4), section IV.B."""
MHZ = 1e6


def parameters(gpu: Gpu) -> MemoryParameters:
    """Return the parameters of a GPU; ``sources`` says where they come from.

    The paper's where it measured the GPU. Else the DRAM latency is split as on the GTX 980: what exceeds
    1.25 L2 latencies is DRAM's own and follows the memory clock; ``dm_del`` is what the achievable DRAM
    bandwidth leaves each SM, at every memory clock the same share of the peak.

    >>> from warpwatt.gpus import find
    >>> parameters(find("gtx980")).delays[3]
    (700000000.0, 9.31)
    >>> round(parameters(find("v100")).dram_latency(1380e6, 877e6))
    434
    """
    published = _published().get(gpu.name)
    return _from_facts(gpu) if published is None else _from_paper(gpu, published)


def _from_paper(gpu: Gpu, file: DataFile) -> MemoryParameters:
    latency, l2 = file.table("dram_latency"), file.table("l2")
    rows = file.table("dram_delay")["rows"]
    return MemoryParameters(
        latency_slope=latency["slope_cycles"],
        latency_intercept=latency["intercept_cycles"],
        l2_latency=l2["latency_cycles"],
        l2_delay=l2["delay_cycles"],
        delays=tuple((row["memory_mhz"] * MHZ, row["cycles"]) for row in rows),
        shared_latency=_shared_latency(gpu),
        fabric_delay=_fabric_delay(gpu),
        sources=("Wang and Chu (2018), equation (4), Table III and section IV.B",),
    )


def _from_facts(gpu: Gpu) -> MemoryParameters:
    memory = gpu.memory
    l2 = memory.l2_latency or FALLBACK_CYCLES["l2"]
    dram = memory.dram_latency or FALLBACK_CYCLES["dram"]
    on_chip = min(ON_CHIP * l2, dram)
    per_ratio = gpu.memory_clock / (memory.dram_latency_clock or gpu.boost_clock)
    achieved = memory.dram_bandwidth or DRAM_EFFICIENCY * gpu.memory_bandwidth
    at_equal_clocks = SECTOR_BYTES * gpu.sm_count * gpu.memory_clock / achieved
    names = ("l2_latency", "dram_latency", "dram_bandwidth", "l2_bandwidth")
    cited = (f"{name}: {memory.sources.get(name, 'no measurement, typical value')}" for name in names)
    return MemoryParameters(
        latency_slope=(dram - on_chip) * per_ratio,
        latency_intercept=on_chip,
        l2_latency=l2,
        l2_delay=_fabric_delay(gpu),
        delays=((gpu.memory_clock, at_equal_clocks),),
        shared_latency=_shared_latency(gpu),
        fabric_delay=_fabric_delay(gpu),
        sources=tuple(cited),
    )


def _shared_latency(gpu: Gpu) -> float:
    return gpu.memory.shared_latency or FALLBACK_CYCLES["shared"]


def _fabric_delay(gpu: Gpu) -> float:
    """Return the core cycles between two sectors from L2 to one SM."""
    measured = gpu.memory.l2_bandwidth
    per_clock = measured / gpu.boost_clock / gpu.sm_count if measured else typical_l2_bytes(gpu)
    return SECTOR_BYTES / per_clock


@lru_cache(maxsize=1)
def _published() -> dict[str, DataFile]:
    files = map(DataFile, sorted(FOLDER.glob("*.toml")))
    return {file.text("gpu"): file for file in files}


def published_rows(gpu: Gpu) -> dict[str, list[dict[str, float]]]:
    """Return the rows of the paper's tables about a GPU, by name of the table in its file; empty if none.

    >>> from warpwatt.gpus import find
    >>> published_rows(find("gtx980"))["minimum_dram_latency"][0]
    {'memory_mhz': 400, 'core_mhz': 400, 'cycles': 500}
    """
    file = _published().get(gpu.name)
    tables = ("minimum_dram_latency", "dram_delay")
    return {name: file.table(name)["rows"] for name in tables} if file is not None else {}
