"""Which columns of the released feature tables are recomputed, how, and what counts as a match.

The formulas are in ``feature_formulas``; each check says in which convention it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from validation.alavani import feature_formulas as f
from validation.alavani.feature_formulas import MIXES, TYPES, Case
from warpwatt.published.alavani.features import Convention
from warpwatt.published.alavani.features import equations as eq

if TYPE_CHECKING:
    from collections.abc import Callable


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
        *_both(lambda c: _exact("total_threads", c, "grid_size · block_size", f.threads)),
        _exact("waves", _T, "Algorithm 10: ⌈⌈nB·nT/nSM⌉ / nTh_m⌉", lambda c: c.pfea_waves),
        _exact("waves", _P, "⌈grid_size / nSM⌉", f.block_waves),
        _exact("sm_active", _T, "min(grid_size, nSM)", lambda c: min(c["grid_size"], c.constants.sm_count)),
        _exact("sm_active", _P, "block_size", lambda c: c["block_size"]),
        Check("n_warps", _T, "occupancy · 64 warps per SM", lambda c: c["occupancy"] * 64),
        Check("n_warps", _P, "grid_size / 32", lambda c: c["grid_size"] / eq.WARP_SIZE),
        *_both(
            lambda c: Check(
                "occupancy", c, "occupancy calculator", f.occupancy, relative=0.0, absolute=0.0051
            )
        ),
        _exact("wtotal", _T, "Algorithm 10", lambda c: c.pfea_waves),
        _exact("wtotal", _P, "round(threads · slope + intercept)", f.wave_estimate),
    )


def _counts() -> tuple[Check, ...]:
    loop_free = (
        "only kernels without loops, i.e. those where some row has comp_inst_sm = waves · comp_inst_kernel"
    )
    rule = "rule found in the data; " + loop_free
    return (
        *_both(lambda c: _exact("total_inst", c, "sum of the four *_inst_sm", f.total)),
        *_both(lambda c: _exact("glob_inst_sm", c, "glob_load_sm + glob_store_sm", f.accesses)),
        *_both(
            lambda c: _exact("comp_inst_sm", c, "Algorithm 10: waves · comp_inst_kernel", f.comp, loop_free)
        ),
        _exact(
            "comp_inst_sm",
            _P,
            "either of Algorithm 10 and waves of one thread per core",
            f.comp_either,
            loop_free,
        ),
        _exact("misc_inst_sm", _T, "Algorithm 10: waves · misc_inst_kernel", f.misc, loop_free),
        _exact("misc_inst_sm", _P, "3·comp_inst_sm + 4·branch + 2·waves", f.misc_published, rule),
        _exact("misc_inst_sm", _P, "same, either kind of waves", f.misc_either, rule),
    )


def _latencies() -> tuple[Check, ...]:
    lat = "{0}_lat_sm / {0}_inst_{1}"
    averages = [
        check
        for kind in TYPES
        for check in (
            Check(
                f"avg_{kind}_lat",
                _T,
                lat.format(kind, "kernel"),
                partial(f.average, kind=kind, scope="kernel"),
            ),
            Check(f"avg_{kind}_lat", _P, lat.format(kind, "sm"), partial(f.average, kind=kind, scope="sm")),
        )
    ]
    known = "only kernels whose compute instructions are known: " + ", ".join(MIXES)
    return (
        *averages,
        *_both(
            lambda c: Check("comp_lat_sm", c, "comp_inst_sm · mean latency of the mix", f.mix, note=known)
        ),
        *_both(
            lambda c: Check(
                "glob_lat_sm",
                c,
                "latency at total_threads (K20), of a load and a store (M60, V100)",
                f.global_latency,
            )
        ),
        Check(
            "glob_lat_sm", _P, "same, or the third piece for all small grids (K20)", f.global_latency_either
        ),
        *_both(
            lambda c: Check(
                "shar_lat_sm",
                c,
                "shared latency · shar_inst_sm",
                partial(f.typed, kind="shar", operation="shared"),
            )
        ),
        Check(
            "misc_lat_sm", _P, "misc latency · misc_inst_sm", partial(f.typed, kind="misc", operation="misc")
        ),
    )


def _issue() -> tuple[Check, ...]:
    column = "inst_issue_cycles"
    return (
        _exact(column, _T, "(5.1): T/(nWS·32) · I/nDU", f.issue_thesis),
        _exact(column, _P, "round(T·I/(32·nDU)²)", f.issue_published),
    )


def _throughput() -> tuple[Check, ...]:
    return (
        *_both(
            lambda c: Check("glob_throughput", c, "Table 4.5 of glob_inst_sm", partial(f.fit, kind="glob"))
        ),
        *_both(lambda c: Check("sh_throughput", c, "Table 4.5 of shar_inst_sm", partial(f.fit, kind="shar"))),
    )


def _penalties() -> tuple[Check, ...]:
    return (
        Check("cache_penalty", _T, "(5.2): waves of Algorithm 10, 128 B", f.cache_thesis),
        Check(
            "cache_penalty",
            _P,
            "(5.2) with wtotal, 4 B; V100: glob_lat_sm for the latency",
            f.cache_published,
        ),
        Check("glb_penalty", _T, "(5.3): 128 B, µs", f.global_thesis),
        Check("glb_penalty", _P, "⌈T/(LSU·nSM)⌉·LSU·nSM·glob_inst_sm·f_mem/TP", f.global_published),
        Check("sh_penalty", _T, "(5.4): 4 B, µs", f.shared_thesis),
        Check(
            "sh_penalty",
            _P,
            "as glb_penalty; K20: not rounded, times 2.125 above 4096 threads",
            f.shared_published,
        ),
    )
