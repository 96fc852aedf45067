"""Runs of tuned kernels: seeded samples of configurations of public brute-force searches.

The times flattened to CSV, the kernels compiled from checkouts. Median of up to 32 repeats; the caches are as
the previous repeat leaves them, clocks were not locked.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter
from typing import TYPE_CHECKING

from validation.timing.cases import Code, Measured
from validation.timing.searches import SEARCHES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from validation.timing.searches import Search

SAMPLE = 500
SEED = 0


def runs(
    folder: Path, checkouts: Mapping[str, Path], sample: int = SAMPLE
) -> tuple[list[Measured], Counter[str]]:
    """Return the sampled runs and how many rows were left out, by reason; ``checkouts`` by name."""
    found, left_out = [], Counter[str]()
    for search in SEARCHES:
        if not checkouts[search.checkout].exists():
            left_out["checkout of the kernel is absent"] += 1
            continue
        taken, reasons = sampled(search, folder, checkouts[search.checkout], sample)
        found += taken
        left_out += reasons
    return found, left_out


def sampled(
    search: Search, folder: Path, checkout: Path, sample: int = SAMPLE
) -> tuple[list[Measured], Counter[str]]:
    """Return the sampled runs of one search, in random order, and the rows left out.

    A smaller sample is the beginning of a larger one.
    """
    rows, left_out = [], Counter[str]()
    for row in _read(folder / "autotuning_hub" / f"{search.file}.csv.gz"):
        reason = _unusable(row)
        left_out.update([reason] if reason else [])
        rows += [] if reason else [row]
    random.Random(SEED).shuffle(rows)
    left_out["not in the sample"] += max(0, len(rows) - sample)
    return [_run(search, checkout, row) for row in rows[:sample]], left_out


def _read(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def _unusable(row: Mapping[str, str]) -> str:
    if row["status"].lower() != "ok" or not _milliseconds(row):
        return "configuration that failed"
    if row.get("use_shmem") == "0":
        return "kernel without shared memory, not public"
    if "time_max_ms" in row and float(row["time_max_ms"]) > 1.2 * float(row["time_min_ms"]):
        return "repeats more than 20 % apart"
    return ""


def _milliseconds(row: Mapping[str, str]) -> str:
    return row["time_median_ms"] if "time_median_ms" in row else row["kernel_duration_ms"]


def _run(search: Search, checkout: Path, row: Mapping[str, str]) -> Measured:
    parameters = {c: int(row[c]) for c in search.columns}
    defines = tuple(f"{c}={v}" for c, v in parameters.items())
    return Measured(
        data=search.name,
        gpu=search.gpu,
        program=search.program,
        configuration=" ".join(f"{c}={v}" for c, v in parameters.items() if c not in _CONSTANT),
        code=Code(checkout / search.source, search.kernel, defines, toolkit=search.toolkit),
        launches=(search.launch(parameters),),
        seconds=float(_milliseconds(row)) * 1e-3,
    )


_CONSTANT = frozenset({"filter_height", "filter_width", "IMAGE_WIDTH", "IMAGE_HEIGHT", "HFS", "VERTICES"})
