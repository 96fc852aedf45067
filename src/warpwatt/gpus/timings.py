"""Measured latencies and bandwidths of the memory hierarchy (``data/memory/*.toml``).

A board's file lists in ``memory_from`` where its numbers come from: its own measurements first, then its
nearest measured relatives (same die, then same capability, then same major capability, then HBM with HBM
and the nearest architecture; of one generation GDDR6X with GDDR6X; a board without ECC follows one without:
the T4's GDDR6 carries its check bits in line, which costs a fifth of its bandwidth). For each quantity the
first board that has it counts, and of several measurements of one board the median (the lower of the two
middle ones), so that it is always a number somebody published. Columns a row lists as ``doubtful``, simulator
settings and model parameters are never used.

Values of a relative are carried over by what is invariant: latencies in cycles, L1 bandwidth per SM and
cycle, L2 bandwidth per SM and clock (but never below the DRAM peak, which has to pass through the L2), DRAM
bandwidth as a share of the theoretical one; a copy's as a share of the reads' of the board that it was
measured on. Bandwidths are never carried over from another generation. The bandwidths of GDDR6 boards are
measured without ECC, the T4's aside; boards that ship with it on get what it leaves (``ecc_dram_share``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from warpwatt.core.gpu import MEASURED_ON, MemoryTimings
from warpwatt.gpus.board import Board
from warpwatt.gpus.capabilities import capability
from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile, Source

if TYPE_CHECKING:
    _Read = Callable[[Mapping[str, float], "_LazyBoard"], float | None]

USED_KINDS = ("measured", "from_memory")
OF_THE_FILE = "of the file"
"""Kind of what a board's own ``[memory]`` says: as it is, whatever the state of ECC."""
_OF_DRAM = ("dram_bandwidth", "dram_copy_bandwidth")
_BOTH = {"dram_read_bw_gbs", "dram_copy_bw_gbs"}
"""Who measured both counts before who measured one of them: a copy is never faster than reads."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row: what one source says about one board."""

    values: Mapping[str, float]
    source: Source
    kind: str
    note: str = ""


class _LazyBoard:
    """The board something was measured on, or is wanted for; read only if measurements must be scaled."""

    def __init__(self, name: str, version: str, read: Callable[[], Board]) -> None:
        self.name = name
        self.version = version
        self._read = read

    @cached_property
    def _board(self) -> Board:
        return self._read()

    @property
    def generation(self) -> str:
        """Architecture, such as ``Ampere``."""
        return capability(self.version).arch.split()[0]

    @property
    def boost(self) -> float:
        """Boost clock in hertz."""
        return self._board.number("boost_clock_mhz") * 1e6

    @property
    def chip_clock(self) -> float:
        """SMs times boost clock, in hertz."""
        return self._board.required("sm_count").whole() * self.boost

    @property
    def peak(self) -> float:
        """Theoretical DRAM bandwidth, B/s."""
        return self._board.number("memory_bandwidth_gbs") * 1e9


def _l1_per_sm_clock(row: Mapping[str, float], place: _LazyBoard) -> float | None:
    whole = row.get("l1_bw_gbs")
    if "l1_bw_bytes_per_clk_per_sm" in row:
        return row["l1_bw_bytes_per_clk_per_sm"]
    return whole and whole * 1e9 / place.chip_clock


def _l2_bandwidth(row: Mapping[str, float], place: _LazyBoard) -> float | None:
    if "l2_bw_gbs" in row:
        return row["l2_bw_gbs"] * 1e9
    if "l2_bw_bytes_per_clk" not in row:
        return None
    clock = row["sm_clock_mhz"] * 1e6 if "sm_clock_mhz" in row else place.boost
    return row["l2_bw_bytes_per_clk"] * clock


def _column(name: str, factor: float = 1.0) -> _Read:
    return lambda row, _: row[name] * factor if name in row else None


# Field of MemoryTimings -> how to read it from a row, and the property of _LazyBoard it is proportional to.
_FIELDS: dict[str, tuple[_Read, str]] = {
    "shared_latency": (_column("shared_latency_cycles"), ""),
    "l1_latency": (_column("l1_latency_cycles"), ""),
    "l2_latency": (_column("l2_latency_cycles"), ""),
    "dram_latency": (_column("dram_latency_cycles"), ""),
    "l1_bandwidth_per_sm_clock": (_l1_per_sm_clock, ""),
    "l2_bandwidth": (_l2_bandwidth, "chip_clock"),
    "dram_bandwidth": (_column("dram_read_bw_gbs", 1e9), "peak"),
    "dram_copy_bandwidth": (_column("dram_copy_bw_gbs", 1e9), "peak"),
    "launch_interval": (_column("launch_interval_us", 1e-6), ""),
    "graph_launch_interval": (_column("graph_launch_interval_us", 1e-6), ""),
    "h2d_bandwidth": (_column("h2d_gbs", 1e9), ""),
}
# Shares of a peak differ between architectures: of another nothing is taken, the model's own constant counts.
_OF_GENERATION = frozenset({"l1_bandwidth_per_sm_clock", "l2_bandwidth", *_OF_DRAM})
# A copy to the device is limited by the host's link: measured on the board itself or not at all.
_NOT_BORROWED = frozenset({"h2d_bandwidth"})


@lru_cache(maxsize=128)
def measurements(stem: str) -> tuple[str, str, tuple[Measurement, ...]]:
    """Return the board of ``data/memory/STEM.toml``, its compute capability and every row.

    Simulators and model parameters too.
    """
    file = DataFile(DATA / "memory" / f"{stem}.toml")
    return (
        file.text("gpu"),
        file.text("capability", ""),
        tuple(
            Measurement(
                {
                    key: float(value)
                    for key, value in row.items()
                    if isinstance(value, int | float) and key not in row.get("doubtful", ())
                },
                file.source(row.get("source")),
                str(row.get("kind")),
                str(row.get("note", "")),
            )
            for row in file.tables("measurement")
        ),
    )


def timings(board: Board, packaged: Callable[[str], Board]) -> MemoryTimings:
    """Return the timings of a board, borrowed ones flagged by ``borrowed_from`` and in ``sources``.

    ``packaged`` finds the board of a file of the package, to borrow from.

    Raises
    ------
    ParseError
        If ``memory_from`` names a board without measurements, or ``[memory]`` holds nonsense.
    """
    here = _LazyBoard(board.name, board.capability, lambda: board)
    found: dict[str, float] = {}
    sources: dict[str, str] = {}
    relatives: dict[str, None] = {}
    for there, rows in _measured_boards(board, here, packaged):
        if _FIELDS.keys() - _NOT_BORROWED <= found.keys():
            break
        own = there.name == here.name
        for name, (read, scale) in _FIELDS.items():
            if name in found or (not own and not _lends(name, there, here)):
                continue
            whole = [row for row in rows if row.values.keys() >= _BOTH] if name in _OF_DRAM else []
            known = ((read(row.values, there), row) for row in whole or rows)
            candidates = [(value, row) for value, row in known if value is not None]
            if not candidates:
                continue
            value, row = _median(candidates)
            found[name] = value if own or not scale else value * getattr(here, scale) / getattr(there, scale)
            if name == "dram_copy_bandwidth" and row.values.keys() >= _BOTH:
                found[name] = found["dram_bandwidth"] * value / (row.values["dram_read_bw_gbs"] * 1e9)
            cited = str(row.source)
            if name == "dram_bandwidth" and row.kind != OF_THE_FILE and (share := ecc_share(board)) < 1:
                found[name] *= share
                cited += f", of which ECC leaves {share:.0%}"
            if name == "l2_bandwidth" and not own:
                found[name] = max(found[name], here.peak)
            sources[name] = cited if own else f"{cited}{MEASURED_ON}{there.name}"
            if name == "dram_latency":
                clock = row.values.get("sm_clock_mhz")
                found["dram_latency_clock"] = there.boost if clock is None else clock * 1e6
                sources["dram_latency_clock"] = sources[name]
            if not own:
                relatives[there.name] = None
    return MemoryTimings(**found, sources=sources, borrowed_from=", ".join(relatives))


def _lends(name: str, there: _LazyBoard, here: _LazyBoard) -> bool:
    """Whether a quantity of a relative says something about a board."""
    return name not in _NOT_BORROWED and (name not in _OF_GENERATION or _alike(there, here))


def _alike(there: _LazyBoard, here: _LazyBoard) -> bool:
    return there.version == here.version or there.generation == here.generation


def ecc_share(board: Board) -> float:
    """Return the share of DRAM bandwidth that ECC leaves, 1 where the board does not pay for it."""
    return board.values["ecc_dram_share"].number() if "ecc_dram_share" in board.values else 1.0


def _measured_boards(
    board: Board, here: _LazyBoard, packaged: Callable[[str], Board]
) -> Iterator[tuple[_LazyBoard, list[Measurement]]]:
    """Yield the boards to take measurements from, with their usable rows, nearest first."""
    if board.memory:
        row = {key: cited.number() for key, cited in board.memory.items()}
        yield here, [Measurement(row, next(iter(board.memory.values())).source, OF_THE_FILE)]
    for stem in board.memory_from:
        if not (DATA / "memory" / f"{stem}.toml").is_file():
            board.file.fail(f"no measurements of {stem!r}", "memory_from", hint="see the folder data/memory")
        name, version, rows = measurements(stem)
        measured = here if name == board.name else _LazyBoard(name, version, partial(packaged, stem))
        yield measured, [row for kind in USED_KINDS for row in rows if row.kind == kind]


def _median(candidates: list[tuple[float, Any]]) -> tuple[float, Any]:
    """Return the middle candidate by value; of an even number the lower of the two."""
    measured = [c for c in candidates if c[1].kind == "measured"] or candidates
    return sorted(measured, key=lambda c: c[0])[(len(measured) - 1) // 2]
