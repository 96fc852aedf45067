"""The check of the data: what ``warpwatt gpus check`` reports and CI insists on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from warpwatt.core.errors import WarpWattError
from warpwatt.gpus import boards, capabilities, catalog, latencies, power, timings
from warpwatt.gpus.board import Board
from warpwatt.gpus.catalog import Entry
from warpwatt.gpus.datafile import DataFile

# Printed bandwidths are rounded, and the driver's clock may differ from the page's by 1-2 MHz.
_BANDWIDTH_TOLERANCE = 0.005


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a data file; ``file`` is its path below the data folder, or a user's path."""

    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


def check() -> list[Finding]:
    """Return everything wrong with the package's data and the user's files; an empty list is good."""
    parts: tuple[Callable[[], Iterator[Finding]], ...] = (
        _every_file_parses,
        _user_files_have_names,
        _index_is_complete,
        _names_are_unique,
        _boards_are_sane,
        _capabilities_are_sane,
        _measurements_are_sane,
        _latencies_are_sane,
    )
    findings = [finding for part in parts for finding in part()]
    return list(dict.fromkeys(findings))


def _shown(path: Path) -> str:
    return str(path.relative_to(catalog.DATA)) if path.is_relative_to(catalog.DATA) else str(path)


def _attempt(path: Path, action: Callable[[], object]) -> Iterator[Finding]:
    """Yield the error that ``action`` raises about the file at ``path``."""
    try:
        action()
    except WarpWattError as error:
        where = "" if error.line is None else f"line {error.line}: "
        yield Finding(_shown(Path(error.file) if error.file else path), where + error.message)


def _entries() -> Iterator[Entry]:
    """Yield the boards whose file says at least its name."""
    for path in catalog.user_files():
        with suppress(WarpWattError):
            yield catalog.user_entry(path)
    yield from catalog.packaged()


def _user_files_have_names() -> Iterator[Finding]:
    for path in catalog.user_files():
        yield from _attempt(path, partial(catalog.user_entry, path))


def _every_file_parses() -> Iterator[Finding]:
    """Every file is TOML, defines the sources it cites and cites the sources it defines."""
    for path in sorted(catalog.DATA.rglob("*.toml")):
        try:
            file = DataFile(path)
        except WarpWattError as error:
            yield Finding(_shown(path), str(error))
            continue
        cited = set(_cited(file.data))
        for name in sorted(cited):
            yield from _attempt(path, partial(file.source, name))
        for name in sorted(file.table("sources").keys() - cited):
            yield Finding(_shown(path), f"source {name!r} is cited by nothing")


def _cited(data: Any) -> Iterator[str]:  # whatever TOML holds
    """Yield every value of a key ``source``, at any depth."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "source" and isinstance(value, str):
                yield value
            elif key != "sources":
                yield from _cited(value)
    elif isinstance(data, list):
        for item in data:
            yield from _cited(item)


def _index_is_complete() -> Iterator[Finding]:
    """Compare the index: it lists every board's file with exactly its name and aliases."""
    listed = catalog.index().table("boards")
    paths = sorted((catalog.DATA / "boards").glob("*.toml"))
    files = {path.stem: catalog.read(path, False, 0) for path in paths}
    for stem in sorted(listed.keys() - files.keys()):
        yield Finding("index.toml", f"lists {stem}, which has no file")
    for stem in sorted(files.keys() - listed.keys()):
        yield Finding("index.toml", f"does not list boards/{stem}.toml")
    for stem in sorted(files.keys() & listed.keys()):
        names = [files[stem].text("name"), *files[stem].texts("aliases")]
        if listed[stem] != names:
            yield Finding("index.toml", f"says {listed[stem]} for {stem}, whose file says {names}")


def _names_are_unique() -> Iterator[Finding]:
    """No two boards of the package share a name or alias, however it is written."""
    spelled = Counter(
        n for e in catalog.packaged() for n in {catalog.normalise(n) for n in (e.name, *e.aliases)}
    )
    for name, times in spelled.items():
        if times > 1:
            yield Finding("index.toml", f"{times} boards are called {name!r}")


def _boards_are_sane() -> Iterator[Finding]:
    for entry in _entries():
        refused = tuple(_attempt(entry.path, partial(boards.read_gpu, entry)))
        if refused:
            yield from refused
            continue
        board = boards.read_board(entry)
        for key, cited in board.values.items():
            low, high = boards.VALUES[key].low, boards.VALUES[key].high
            if math.isfinite(high) and not low <= cited.value <= high:
                yield Finding(_shown(entry.path), f"{key} is {cited.value}, outside {low} to {high}")
        yield from _clocks_and_bandwidth(board, entry.path)


def _clocks_and_bandwidth(board: Board, path: Path) -> Iterator[Finding]:
    """Bandwidth is 2 × memory clock × bus width / 8, and the base clock is not above the boost clock."""
    values = {key: cited.value for key, cited in board.values.items()}
    if "memory_bus_bits" in values:
        expected = 2 * values["memory_clock_mhz"] * values["memory_bus_bits"] / 8 / 1e3
        if not math.isclose(expected, values["memory_bandwidth_gbs"], rel_tol=_BANDWIDTH_TOLERANCE):
            printed = values["memory_bandwidth_gbs"]
            yield Finding(_shown(path), f"bandwidth {printed} GB/s, but clock and bus give {expected:.1f}")
    if values.get("base_clock_mhz", 0) > values["boost_clock_mhz"]:
        yield Finding(_shown(path), "the base clock is above the boost clock")


def _capabilities_are_sane() -> Iterator[Finding]:
    for version in capabilities.versions():
        path = catalog.DATA / "capabilities" / f"{version}.toml"
        try:
            cap = capabilities.capability(version)
        except WarpWattError as error:
            yield Finding(_shown(path), error.message)
            continue
        problems = {
            "the file's name is not its version": cap.version != version,
            "warps and threads per SM disagree": cap.max_warps_per_sm * cap.warp_size
            != cap.max_threads_per_sm,
            "the largest carve-out is not the shared memory of an SM": max(cap.shared_carveouts)
            != cap.max_shared_per_sm,
            "carve-outs are not in ascending order": list(cap.shared_carveouts)
            != sorted(cap.shared_carveouts),
            "a block may have more shared memory than an SM": cap.max_shared_per_block
            + cap.reserved_shared_per_block
            > cap.max_shared_per_sm,
            "a block may have more registers than an SM": cap.max_registers_per_block > cap.registers_per_sm,
            "no latencies": not latencies.stems(version),
        }
        yield from (Finding(_shown(path), problem) for problem, holds in problems.items() if holds)


def _measurements_are_sane() -> Iterator[Finding]:
    """Measured bandwidth is below the theoretical one, and caches answer before DRAM does."""
    for entry in _entries():
        try:
            gpu = boards.read_gpu(entry)
        except WarpWattError:
            continue  # reported with the boards
        memory = gpu.memory
        if memory.dram_bandwidth is not None and memory.dram_bandwidth > gpu.memory_bandwidth:
            yield Finding(_shown(entry.path), "measured DRAM bandwidth is above the theoretical one")
        steps = [x for x in (memory.l2_latency, memory.dram_latency) if x is not None]
        if steps != sorted(steps):
            yield Finding(_shown(entry.path), "the L2 is slower than the DRAM behind it")
    for path in sorted((catalog.DATA / "memory").glob("*.toml")):
        yield from _attempt(path, partial(timings.measurements, path.stem))
    for path in sorted((catalog.DATA / "power").glob("*.toml")):
        yield from _attempt(path, power.static_power)


def _latencies_are_sane() -> Iterator[Finding]:
    """Every table a capability names exists, its own come first, and no simulator is among them."""
    stems = {path.stem for path in (catalog.DATA / "latencies").glob("*.toml")}
    for version in capabilities.versions():
        where = f"capabilities/{version}.toml"
        listed = latencies.stems(version)
        yield from (Finding(where, f"no latencies/{stem}.toml") for stem in listed if stem not in stems)
        tables = [latencies.table(stem) for stem in listed if stem in stems]
        own = [table.capability == version for table in tables]
        if own != sorted(own, reverse=True):
            yield Finding(where, "borrowed latencies stand before its own")
        for table in tables:
            if table.kind in {"simulator", "model_parameter"}:
                yield Finding(where, f"{table.stem} is of kind {table.kind}")
    for table in latencies.all_tables():
        for entry in table.entries:
            if entry.cycles is not None and not 0 < entry.cycles < 10_000:
                yield Finding(f"latencies/{table.stem}.toml", f"{entry.opcode} takes {entry.cycles} cycles")
