"""Every derivable column of the released feature tables, recomputed from other columns of the same row.

Each check states a formula in one convention. The equations are those of
``warpwatt.program.features``, so that agreement with the data is agreement of the code that feeds the models.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.program.features import Constants, Convention
from warpwatt.program.features import equations as eq
from warpwatt.program.features.constants import Rules, published_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from validation.alavani_data import Row

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
    occupancy: Callable[[Row], float | None]

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


class Missing(Exception):  # noqa: N818 - control flow between a check and its runner, never an error
    """The row lacks an input of the check, or the check does not apply to it."""


@dataclass(frozen=True, slots=True)
class Check:
    """A formula for a column. A row matches within ``absolute`` or ``relative``, whichever is wider."""

    column: str
    convention: Convention
    formula: str
    compute: Callable[[Case], float]
    relative: float = 1e-3
    absolute: float = 5e-3
    note: str = ""

    def matches(self, predicted: float, actual: float) -> bool:
        """Whether the recomputed value equals the released one within the tolerance."""
        return abs(predicted - actual) <= max(self.absolute, self.relative * abs(actual))


@dataclass(frozen=True, slots=True)
class Result:
    """How many rows of a data set a check matches. ``rows`` is 0 where nothing could be compared.

    ``worst`` describes the kernels with the most mismatches.
    """

    check: Check
    data: str
    matching: int
    rows: int
    worst: str

    @property
    def share(self) -> float | None:
        """Matching rows over compared rows."""
        return self.matching / self.rows if self.rows else None

    def __str__(self) -> str:
        return "–" if self.share is None else f"{100 * self.share:.2f} % of {self.rows}"


@lru_cache(maxsize=1)
def checks() -> tuple[Check, ...]:
    """Return all checks, the two conventions of a column beside each other."""
    found = (*_geometry(), *_counts(), *_latencies(), *_issue(), *_throughput(), *_penalties())
    return tuple(sorted(found, key=lambda check: check.column))


def _exact(
    column: str, convention: Convention, formula: str, compute: Callable[[Case], float], note: str = ""
) -> Check:
    return Check(column, convention, formula, compute, relative=0.0, absolute=0.5, note=note)


def _both(make: Callable[[Convention], Check]) -> tuple[Check, Check]:
    return make(Convention.THESIS), make(Convention.PUBLISHED)


_T, _P = Convention.THESIS, Convention.PUBLISHED


def _geometry() -> tuple[Check, ...]:
    return (
        *_both(lambda c: _exact("total_threads", c, "grid_size · block_size", _threads)),
        _exact("waves", _T, "Algorithm 10: ⌈⌈nB·nT/nSM⌉ / nTh_m⌉", lambda c: c.pfea_waves),
        _exact("waves", _P, "⌈grid_size / nSM⌉", _block_waves),
        _exact("sm_active", _T, "min(grid_size, nSM)", lambda c: min(c["grid_size"], c.constants.sm_count)),
        _exact("sm_active", _P, "block_size", lambda c: c["block_size"]),
        Check("n_warps", _T, "occupancy · 64 warps per SM", lambda c: c["occupancy"] * 64),
        Check("n_warps", _P, "grid_size / 32", lambda c: c["grid_size"] / eq.WARP_SIZE),
        *_both(
            lambda c: Check("occupancy", c, "occupancy calculator", _occupancy, relative=0.0, absolute=0.0051)
        ),
        _exact("wtotal", _T, "Algorithm 10", lambda c: c.pfea_waves),
        _exact("wtotal", _P, "round(threads · slope + intercept)", _wave_estimate),
    )


def _counts() -> tuple[Check, ...]:
    loop_free = (
        "only kernels without loops, i.e. those where some row has comp_inst_sm = waves · comp_inst_kernel"
    )
    rule = "rule found in the data; " + loop_free
    return (
        *_both(lambda c: _exact("total_inst", c, "sum of the four *_inst_sm", _total)),
        *_both(lambda c: _exact("glob_inst_sm", c, "glob_load_sm + glob_store_sm", _accesses)),
        *_both(
            lambda c: _exact("comp_inst_sm", c, "Algorithm 10: waves · comp_inst_kernel", _comp, loop_free)
        ),
        _exact(
            "comp_inst_sm",
            _P,
            "either of Algorithm 10 and waves of one thread per core",
            _comp_either,
            loop_free,
        ),
        _exact("misc_inst_sm", _T, "Algorithm 10: waves · misc_inst_kernel", _misc, loop_free),
        _exact("misc_inst_sm", _P, "3·comp_inst_sm + 4·branch + 2·waves", _misc_published, rule),
        _exact("misc_inst_sm", _P, "same, either kind of waves", _misc_either, rule),
    )


def _latencies() -> tuple[Check, ...]:
    lat = "{0}_lat_sm / {0}_inst_{1}"
    averages = [
        check
        for kind in TYPES
        for check in (
            Check(
                f"avg_{kind}_lat", _T, lat.format(kind, "kernel"), lambda c, k=kind: _average(c, k, "kernel")
            ),
            Check(f"avg_{kind}_lat", _P, lat.format(kind, "sm"), lambda c, k=kind: _average(c, k, "sm")),
        )
    ]
    known = "only kernels whose compute instructions are known: " + ", ".join(MIXES)
    return (
        *averages,
        *_both(lambda c: Check("comp_lat_sm", c, "comp_inst_sm · mean latency of the mix", _mix, note=known)),
        *_both(
            lambda c: Check(
                "glob_lat_sm", c, "latency at total_threads (K20), of a load and a store (M60, V100)", _global
            )
        ),
        Check("glob_lat_sm", _P, "same, or the third piece for all small grids (K20)", _global_either),
        *_both(
            lambda c: Check(
                "shar_lat_sm", c, "shared latency · shar_inst_sm", lambda x: _typed(x, "shar", "shared")
            )
        ),
        Check("misc_lat_sm", _P, "misc latency · misc_inst_sm", lambda x: _typed(x, "misc", "misc")),
    )


def _issue() -> tuple[Check, ...]:
    column = "inst_issue_cycles"
    return (
        _exact(column, _T, "(5.1): T/(nWS·32) · I/nDU", _issue_thesis),
        _exact(column, _P, "round(T·I/(32·nDU)²)", _issue_published),
    )


def _throughput() -> tuple[Check, ...]:
    return (
        *_both(lambda c: Check("glob_throughput", c, "Table 4.5 of glob_inst_sm", lambda x: _fit(x, "glob"))),
        *_both(lambda c: Check("sh_throughput", c, "Table 4.5 of shar_inst_sm", lambda x: _fit(x, "shar"))),
    )


def _penalties() -> tuple[Check, ...]:
    return (
        Check("cache_penalty", _T, "(5.2): waves of Algorithm 10, 128 B", _cache_thesis),
        Check(
            "cache_penalty", _P, "(5.2) with wtotal, 4 B; V100: glob_lat_sm for the latency", _cache_published
        ),
        Check("glb_penalty", _T, "(5.3): 128 B, µs", _global_thesis),
        Check("glb_penalty", _P, "⌈T/(LSU·nSM)⌉·LSU·nSM·glob_inst_sm·f_mem/TP", _global_published),
        Check("sh_penalty", _T, "(5.4): 4 B, µs", _shared_thesis),
        Check(
            "sh_penalty",
            _P,
            "as glb_penalty; K20: not rounded, times 2.125 above 4096 threads",
            _shared_published,
        ),
    )


def _threads(c: Case) -> float:
    return c["grid_size"] * c["block_size"]


def _block_waves(c: Case) -> float:
    return eq.block_waves_published(int(c["grid_size"]), c.constants.sm_count)


def _occupancy(c: Case) -> float:
    value = c.occupancy(c.row)
    if value is None:
        raise Missing("occupancy")
    return value


def _wave_estimate(c: Case) -> float:
    return eq.wave_estimate_published(
        c["total_threads"], c.rules.wave_slope_per_thread, c.rules.wave_intercept
    )


def _total(c: Case) -> float:
    return sum(c[f"{kind}_inst_sm"] for kind in TYPES)


def _accesses(c: Case) -> float:
    return c["glob_load_sm"] + c["glob_store_sm"]


def _require_loop_free(c: Case) -> None:
    if not c.loop_free:
        raise Missing("loop_free")


def _comp(c: Case) -> float:
    _require_loop_free(c)
    return c.pfea_waves * c["comp_inst_kernel"]


def _misc(c: Case) -> float:
    _require_loop_free(c)
    return c.pfea_waves * c["misc_inst_kernel"]


def _misc_published(c: Case) -> float:
    _require_loop_free(c)
    per_kernel = c.rules.misc_per_kernel * c.pfea_waves
    return c.rules.misc_per_compute * c["comp_inst_sm"] + c.rules.misc_per_branch * c["branch"] + per_kernel


def _later_waves(c: Case) -> int:
    per_wave = c.constants.later_threads_per_wave
    if per_wave is None:
        return c.pfea_waves
    return -(-int(c["total_threads"]) // (c.constants.sm_count * per_wave))


def _comp_either(c: Case) -> float:
    _require_loop_free(c)
    later = _later_waves(c) * c["comp_inst_kernel"]
    return later if later == c["comp_inst_sm"] else _comp(c)


def _misc_either(c: Case) -> float:
    plain, waves = _misc_published(c), c.pfea_waves
    later = plain + c.rules.misc_per_kernel * (_later_waves(c) - waves)
    return later if later == c["misc_inst_sm"] else plain


def _average(c: Case, kind: str, scope: str) -> float:
    return eq.average(c[f"{kind}_lat_sm"], c[f"{kind}_inst_{scope}"])


def _mix(c: Case) -> float:
    mix = MIXES.get(c.row.kernel.lower())
    if mix is None:
        raise Missing("mix")
    cycles = sum(n * c.constants.latency(operation) for operation, n in mix.items())
    return c["comp_inst_sm"] * cycles / sum(mix.values())


def _global(c: Case) -> float:
    latency = c.constants.global_latency
    if not latency.pieces and not latency.load:
        raise Missing("global latency")
    loads, stores = (0.0, 0.0) if latency.pieces else (c["glob_load_sm"], c["glob_store_sm"])
    return latency.total(c["total_threads"], c["glob_inst_sm"], loads, stores)


def _global_either(c: Case) -> float:
    plain, pieces = _global(c), c.constants.global_latency.pieces
    if not pieces or c["total_threads"] >= pieces[2].below:
        return plain
    third = c["glob_inst_sm"] * (pieces[2].slope * c["total_threads"] + pieces[2].intercept)
    return min(third, plain, key=lambda x: abs(x - c["glob_lat_sm"]))


def _typed(c: Case, kind: str, operation: str) -> float:
    return c[f"{kind}_inst_sm"] * c.constants.latency(operation)


def _issue_thesis(c: Case) -> float:
    k = c.constants
    return eq.issue_cycles(c["total_threads"], c["total_inst"], k.warp_schedulers, k.dispatch_units)


def _issue_published(c: Case) -> float:
    return eq.issue_cycles_published(c["total_threads"], c["total_inst"], c.constants.dispatch_units)


def _fit(c: Case, kind: str) -> float:
    fit = c.constants.global_throughput if kind == "glob" else c.constants.shared_throughput
    if fit is None:
        raise Missing("throughput fit")
    return fit(c[f"{kind}_inst_sm"])


def _cache_thesis(c: Case) -> float:
    glob, latency = c["glob_inst_sm"], c["avg_glob_lat"]
    size = c.constants.l2_size
    return eq.cache_penalty(c["total_threads"], glob, c.pfea_waves, size, eq.GLOBAL_ACCESS_BYTES, latency)


def _cache_published(c: Case) -> float:
    k, glob = c.constants, c["glob_inst_sm"]
    latency = c["glob_lat_sm"] if k.cache_latency_is_total else c["avg_glob_lat"]
    bytes_ = c.rules.cache_access_bytes
    return eq.cache_penalty(c["total_threads"], glob, c["wtotal"], k.l2_size, bytes_, latency)


def _global_thesis(c: Case) -> float:
    units = c.constants.load_store_units
    rate, glob = _fit(c, "glob"), c["glob_inst_sm"]
    return eq.global_penalty(c["total_threads"], glob, rate, units, eq.GLOBAL_ACCESS_BYTES)


def _global_published(c: Case) -> float:
    k = c.constants
    rate, glob = _fit(c, "glob"), c["glob_inst_sm"]
    return eq.memory_penalty_published(c["total_threads"], glob, rate, k.memory_clock_ghz, k.batch)


def _shared_thesis(c: Case) -> float:
    k, shar = c.constants, c["shar_inst_sm"]
    if not shar:
        return 0.0
    rate = _fit(c, "shar")
    return eq.shared_penalty(c["total_threads"], shar, rate, k.load_store_units, k.sm_count)


def _shared_published(c: Case) -> float:
    k, shar, threads = c.constants, c["shar_inst_sm"], c["total_threads"]
    if not shar:
        return 0.0
    batch = k.batch if k.shared_whole_batches else None
    plain = eq.memory_penalty_published(threads, shar, _fit(c, "shar"), k.memory_clock_ghz, batch)
    return plain * (k.shared_conflict.factor if threads > k.shared_conflict.above_threads else 1)


def rules() -> Rules:
    """Return the rules of the released data."""
    return published_rules()
