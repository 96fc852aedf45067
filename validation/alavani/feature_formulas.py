"""Columns of the released feature tables, recomputed from other columns of the same row.

The equations are those of ``warpwatt.published.alavani.features``, so that agreement with the data is
agreement of the code that feeds the trained models. Formulas that the printed equations and the data share
have no suffix.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt import gpus
from warpwatt.core.errors import LaunchError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.published.alavani.features import equations as eq

if TYPE_CHECKING:
    from collections.abc import Mapping

    from validation.alavani.feature_tables import Row
    from warpwatt.core.gpu import Gpu
    from warpwatt.published.alavani.features import Constants
    from warpwatt.published.alavani.features.constants import Rules

TYPES = ("comp", "glob", "shar", "misc")
_MIXES_FILE = Path(__file__).with_name("feature_mixes.toml")
MIXES: Mapping[str, Mapping[str, int]] = tomllib.loads(_MIXES_FILE.read_text(encoding="utf-8"))
"""Compute instructions of kernels simple enough to know their PTX without the sources."""


@dataclass(frozen=True, slots=True)
class Case:
    """One row with the constants of its GPU (``constants`` of the check's convention)."""

    row: Row
    constants: Constants
    rules: Rules
    loop_free: bool
    gpu: Gpu

    def __getitem__(self, name: str) -> float:
        """Return a column; :class:`Missing` where the row has no number there."""
        value = self.row.values.get(name)
        if value is None:
            raise Missing(name)
        return value

    @property
    def pfea_waves(self) -> int:
        """Waves of Algorithm 10."""
        c = self.constants
        return eq.pfea_waves(
            int(self["grid_size"]), int(self["block_size"]), c.sm_count, c.max_threads_per_sm
        )


class Missing(LookupError):  # noqa: N818 - control flow between a check and its runner, never an error
    """The row lacks an input of the check, or the check does not apply to it."""


def threads(c: Case) -> float:
    """Threads of the grid."""
    return c["grid_size"] * c["block_size"]


def block_waves(c: Case) -> float:
    """Blocks per SM."""
    return eq.block_waves_published(int(c["grid_size"]), c.constants.sm_count)


def occupancy(c: Case) -> float:
    """Theoretical occupancy; missing where the row holds no launch the GPU could run."""
    numbers = (c["block_size"], c["reg_thread"], c["shmem_block"])
    value = _occupancy(c.gpu, *(int(x) for x in numbers))
    if value is None:
        raise Missing("occupancy")
    return value


@lru_cache(maxsize=4096)
def _occupancy(gpu: Gpu, size: int, registers: int, shared: int) -> float | None:
    try:
        launch = Launch(Dim3(1), Dim3(size))
    except LaunchError:
        return None
    return gpus.occupancy(gpu, Resources(registers, static_shared=shared), launch).theoretical


def wave_estimate(c: Case) -> float:
    """``wtotal`` as a straight line in the threads."""
    return eq.wave_estimate_published(
        c["total_threads"], c.rules.wave_slope_per_thread, c.rules.wave_intercept
    )


def total(c: Case) -> float:
    """Instructions of all types."""
    return sum(c[f"{kind}_inst_sm"] for kind in TYPES)


def accesses(c: Case) -> float:
    """Global loads and stores."""
    return c["glob_load_sm"] + c["glob_store_sm"]


def _require_loop_free(c: Case) -> None:
    if not c.loop_free:
        raise Missing("loop_free")


def comp(c: Case) -> float:
    """Compute instructions of all waves of a kernel without loops."""
    _require_loop_free(c)
    return c.pfea_waves * c["comp_inst_kernel"]


def misc(c: Case) -> float:
    """Miscellaneous instructions of all waves of a kernel without loops."""
    _require_loop_free(c)
    return c.pfea_waves * c["misc_inst_kernel"]


def misc_published(c: Case) -> float:
    """``misc_inst_sm`` by the rule found in the data, for kernels without loops."""
    _require_loop_free(c)
    per_kernel = c.rules.misc_per_kernel * c.pfea_waves
    return c.rules.misc_per_compute * c["comp_inst_sm"] + c.rules.misc_per_branch * c["branch"] + per_kernel


def _later_waves(c: Case) -> int:
    per_wave = c.constants.later_threads_per_wave
    if per_wave is None:
        return c.pfea_waves
    return -(-int(c["total_threads"]) // (c.constants.sm_count * per_wave))


def comp_either(c: Case) -> float:
    """Like :func:`comp`, by whichever kind of waves the row was made with."""
    _require_loop_free(c)
    later = _later_waves(c) * c["comp_inst_kernel"]
    return later if later == c["comp_inst_sm"] else comp(c)


def misc_either(c: Case) -> float:
    """Like :func:`misc_published`, by whichever kind of waves the row was made with."""
    plain, waves = misc_published(c), c.pfea_waves
    later = plain + c.rules.misc_per_kernel * (_later_waves(c) - waves)
    return later if later == c["misc_inst_sm"] else plain


def average(c: Case, kind: str, scope: str) -> float:
    """Latency of one type over its instructions per SM or in the kernel."""
    return eq.average(c[f"{kind}_lat_sm"], c[f"{kind}_inst_{scope}"])


def mix(c: Case) -> float:
    """Latency of the compute instructions of a kernel in :data:`MIXES`."""
    mix = MIXES.get(c.row.kernel.lower())
    if mix is None:
        raise Missing("mix")
    cycles = sum(n * c.constants.latency(operation) for operation, n in mix.items())
    return c["comp_inst_sm"] * cycles / sum(mix.values())


def global_latency(c: Case) -> float:
    """Latency of all global accesses of an SM."""
    latency = c.constants.global_latency
    if not latency.pieces and not latency.load:
        raise Missing("global latency")
    loads, stores = (0.0, 0.0) if latency.pieces else (c["glob_load_sm"], c["glob_store_sm"])
    return latency.total(c["total_threads"], c["glob_inst_sm"], loads, stores)


def global_latency_either(c: Case) -> float:
    """Like :func:`global_latency`, or by its third piece for smaller grids, whichever is nearer."""
    plain, pieces = global_latency(c), c.constants.global_latency.pieces
    if not pieces or c["total_threads"] >= pieces[2].below:
        return plain
    third = c["glob_inst_sm"] * (pieces[2].slope * c["total_threads"] + pieces[2].intercept)
    return min(third, plain, key=lambda x: abs(x - c["glob_lat_sm"]))


def typed(c: Case, kind: str, operation: str) -> float:
    """Latency of all instructions of a type that has one latency."""
    return c[f"{kind}_inst_sm"] * c.constants.latency(operation)


def issue_thesis(c: Case) -> float:
    """(5.1)."""
    k = c.constants
    return eq.issue_cycles(c["total_threads"], c["total_inst"], k.warp_schedulers, k.dispatch_units)


def issue_published(c: Case) -> float:
    """``inst_issue_cycles`` as released."""
    return eq.issue_cycles_published(c["total_threads"], c["total_inst"], c.constants.dispatch_units)


def fit(c: Case, kind: str) -> float:
    """Throughput of Table 4.5."""
    fit = c.constants.global_throughput if kind == "glob" else c.constants.shared_throughput
    if fit is None:
        raise Missing("throughput fit")
    return fit(c[f"{kind}_inst_sm"])


def cache_thesis(c: Case) -> float:
    """(5.2)."""
    glob, latency = c["glob_inst_sm"], c["avg_glob_lat"]
    size = c.constants.l2_size
    return eq.cache_penalty(c["total_threads"], glob, c.pfea_waves, size, eq.GLOBAL_ACCESS_BYTES, latency)


def cache_published(c: Case) -> float:
    """``cache_penalty`` as released."""
    k, glob = c.constants, c["glob_inst_sm"]
    latency = c["glob_lat_sm"] if k.cache_latency_is_total else c["avg_glob_lat"]
    bytes_ = c.rules.cache_access_bytes
    return eq.cache_penalty(c["total_threads"], glob, c["wtotal"], k.l2_size, bytes_, latency)


def global_thesis(c: Case) -> float:
    """(5.3)."""
    units = c.constants.load_store_units
    rate, glob = fit(c, "glob"), c["glob_inst_sm"]
    return eq.global_penalty(c["total_threads"], glob, rate, units, eq.GLOBAL_ACCESS_BYTES)


def global_published(c: Case) -> float:
    """``glb_penalty`` as released."""
    k = c.constants
    rate, glob = fit(c, "glob"), c["glob_inst_sm"]
    return eq.memory_penalty_published(c["total_threads"], glob, rate, k.memory_clock_ghz, k.batch)


def shared_thesis(c: Case) -> float:
    """(5.4)."""
    k, shar = c.constants, c["shar_inst_sm"]
    if not shar:
        return 0.0
    rate = fit(c, "shar")
    return eq.shared_penalty(c["total_threads"], shar, rate, k.load_store_units, k.sm_count)


def shared_published(c: Case) -> float:
    """``sh_penalty`` as released."""
    k, shar, threads = c.constants, c["shar_inst_sm"], c["total_threads"]
    if not shar:
        return 0.0
    batch = k.batch if k.shared_whole_batches else None
    plain = eq.memory_penalty_published(threads, shar, fit(c, "shar"), k.memory_clock_ghz, batch)
    return plain * (k.shared_conflict.factor if threads > k.shared_conflict.above_threads else 1)
