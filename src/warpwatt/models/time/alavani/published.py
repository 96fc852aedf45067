"""What the thesis measured on one GPU: latencies, global latency, launch overhead, throughput fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile

if TYPE_CHECKING:
    from collections.abc import Mapping

LAST_THREADS = 2_203_648
"""The end of Table 3.3. Beyond it the last line would fall below 0 in the end; its end value is kept."""


@dataclass(frozen=True, slots=True)
class Line:
    """``slope`` · threads + ``intercept`` up to ``most`` threads."""

    slope: float
    intercept: float
    most: float = float("inf")

    def __call__(self, threads: float) -> float:
        """Return the value at a number of threads."""
        return self.slope * threads + self.intercept


@dataclass(frozen=True, slots=True)
class Growth:
    """a·(b − e^(−c·n)) in MB/s (Table 4.5)."""

    a: float
    b: float
    c: float


@dataclass(frozen=True, slots=True)
class Published:
    """Tables 3.2, 3.3 and 4.5 and section 3.4 for one GPU; empty or None where the thesis has no value.

    ``latencies`` in cycles by the thesis' instruction names, ``launch_overhead`` in seconds.
    """

    latencies: Mapping[str, float]
    global_latency: tuple[Line, ...] = ()
    launch_overhead: Line | None = None
    global_throughput: Growth | None = None
    shared_throughput: Growth | None = None

    def global_latency_at(self, threads: float) -> float:
        """Return 𝓛(gm) of Table 3.3 in cycles for nT_b·nB threads, constant beyond its end.

        >>> k20 = published("Tesla K20")
        >>> round(k20.global_latency_at(3328), 2), round(k20.global_latency_at(10**9))
        (314.12, 446)
        """
        threads = min(threads, LAST_THREADS)
        return next(line(threads) for line in self.global_latency if threads <= line.most)


@lru_cache(maxsize=16)
def published(gpu: str) -> Published | None:
    """Return what the thesis measured on a GPU, or None if it did not use it.

    >>> published("Tesla V100 SXM2 16GB").global_throughput is None, published("NVIDIA H200") is None
    (True, True)
    """
    path = DATA / "alavani" / f"{_slug(gpu)}.toml"
    if not path.exists():
        return None
    data = DataFile(path).data
    fits = data.get("throughput", {})
    pieces = data.get("global_latency", {}).get("pieces", ())
    overhead = data.get("launch_overhead")
    return Published(
        latencies={k: float(v) for k, v in data["latencies"].items() if k != "source"},
        global_latency=tuple(Line(p["slope"], p["intercept"], p["max"]) for p in pieces),
        launch_overhead=overhead
        and Line(overhead["slope_us_per_thread"] * 1e-6, overhead["intercept_us"] * 1e-6),
        global_throughput=_growth(fits.get("global")),
        shared_throughput=_growth(fits.get("shared")),
    )


def _growth(row: Mapping[str, Any] | None) -> Growth | None:
    return None if row is None else Growth(row["a"], row["b"], row["c"])


def _slug(name: str) -> str:
    """File name of a GPU.

    >>> _slug("Tesla M60 (per GPU)")
    'tesla-m60-per-gpu'
    """
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
