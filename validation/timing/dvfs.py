"""Runs of nv_dvfs_benchmark: applications timed on V100 and Quadro RTX 8000 at locked clocks, and older GPUs.

Data and sources: github.com/blackjack2015/NV-DVFS-Benchmark, branch master, commit f189504, and, for GTX
980, Titan X (Pascal), P100 and the older V100 runs, the measurements of branch wsl. The sources are compiled
from a checkout; launches are in ``time_dvfs.toml`` and ``counters.toml``, with what they were inferred from.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.counters import cases as counters_cases
from validation.timing.cases import Code, Measured, Part
from validation.timing.contents import content
from warpwatt.core.arguments import parse_arguments
from warpwatt.core.gpu import Clocks
from warpwatt.core.launch import Dim3, L2State, Launch
from warpwatt.gpus import find

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MANIFEST = Path(__file__).with_name("time_dvfs.toml")
NAME, OLDER = "applications", "applications on older GPUs"
FOLDER = "nv_dvfs_benchmark"
FILES = {
    "rtx8000_dvfs_real_profile.csv": "Quadro RTX 8000",
    "v100_dvfs_real_profile.csv": "Tesla V100 PCIe 16GB",
}
LOWEST_MHZ = {"Tesla V100 PCIe 16GB": 705}
"""Below, the V100's clocks were not applied as labelled: times of compute-bound programs say so."""
MEMORY_MHZ = {"Quadro RTX 8000": 7000.0}
"""Where the label is wrong: bytes of streaming kernels over time and DRAM activity (DCGM) give the peak
bandwidth at 7000 MHz on RTX 8000 (label 6500), as they do at the label's 877 MHz on V100."""
ANOTHER_BUILD = {"backpropForward": ("GeForce GTX 980", "TITAN X (Pascal)", "Tesla P100 PCIe 16GB")}
"""Measured from other code than the source: nvprof counts 1520 floating-point operations a block there, the
source and the older V100 run make 496 (``counters.toml``)."""
SOURCES, INCLUDE = "nv-dvfs/src/linux", ("cuda-samples/Common", "nv-dvfs/src/linux/common/inc")
MHZ = 1e6

Row = dict[str, str]


def runs(data: Path, checkouts: Path) -> tuple[list[Measured], Counter[str]]:
    """Return the runs at every clock, and how many rows were left out, by reason."""
    manifest = tomllib.loads(MANIFEST.read_text())
    entries = {entry["name"]: entry for entry in manifest["program"]}
    found, left_out = [], Counter[str]()
    for file, gpu in FILES.items():
        for row in _rows(data / FOLDER / file):
            name, clock = row["benchmark"], float(row["core_frequency"])
            if clock < LOWEST_MHZ.get(gpu, 0):
                left_out["V100 below 705 MHz, clock not as labelled"] += 1
            elif name in manifest["left_out"]:
                left_out[f"{name}: {manifest['left_out'][name]}"] += 1
            else:
                found.append(_run(entries[name], row, gpu, checkouts))
    return found, left_out


def misses() -> list[dict[str, str]]:
    """Return ``where`` and ``why`` of the largest errors, from worked cases."""
    found: list[dict[str, str]] = tomllib.loads(MANIFEST.read_text())["miss"]
    return found


def older_runs(data: Path, checkouts: Path) -> tuple[list[Measured], Counter[str]]:
    """Return the runs of the earlier campaign, at the clocks nearest to the data sheet's."""
    manifest = counters_cases.manifest()
    entries = {entry["name"]: entry for entry in manifest["program"]}
    found, left_out = [], Counter[str]()
    for file, (gpu, workload) in counters_cases.NVPROF_FILES.items():
        rows = _rows(data / counters_cases.NVPROF / file)
        clocks = _nearest(gpu, rows)
        for row in rows:
            if (float(row["coreF"]), float(row["memF"])) != clocks:
                left_out["not the clocks nearest to the data sheet's"] += 1
            elif gpu in ANOTHER_BUILD.get(row["appName"], ()):
                left_out[f"{row['appName']}: another build was measured, three times the operations"] += 1
            elif row["appName"] in entries:
                found.append(_older_run(entries[row["appName"]], row, gpu, workload, checkouts))
            else:
                left_out[f"{row['appName']}: {manifest['left_out'][row['appName']]}"] += 1
    return found, left_out


def _run(entry: Mapping[str, Any], row: Row, gpu: str, checkouts: Path) -> Measured:
    parts = tuple(_parts(entry, checkouts))
    return Measured(
        data=NAME,
        gpu=gpu,
        program=entry["name"],
        configuration=f"{row['core_frequency']} MHz",
        code=parts[0].code,
        launches=(),
        seconds=float(row["time"]) * 1e-3,
        clocks=Clocks(float(row["core_frequency"]) * MHZ, _memory_mhz(gpu, row) * MHZ),
        parts=parts,
    )


def _memory_mhz(gpu: str, row: Row) -> float:
    return MEMORY_MHZ.get(gpu, float(row["memory_frequency"]))


def _parts(entry: Mapping[str, Any], checkouts: Path) -> Iterator[Part]:
    for launch in entry.get("once", []):
        yield _part(launch, {}, checkouts)
    for name, values in entry.get("each", {"": [0]}).items():
        for value in values:
            for launch in entry["launches"]:
                yield _part(launch, {name: value}, checkouts)


def _part(entry: Mapping[str, Any], values: Mapping[str, int], checkouts: Path) -> Part:
    code = _code(checkouts / SOURCES / entry["source"], entry["kernel"], checkouts)
    arguments = parse_arguments([_filled(text, values) for text in entry["arguments"]])
    launch = Launch(
        Dim3(*entry["grid"]),
        Dim3(*entry["block"]),
        entry.get("dynamic_shared", 0),
        l2=L2State.WARM,
        arguments=arguments,
    )
    return Part(code, launch)


def _filled(text: str, values: Mapping[str, int]) -> str:
    """Put values, then contents, in place of ``{name}``.

    >>> _filled("stride={stride}", {"stride": 8})
    'stride=8'
    """
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return re.sub(r"\{([^}]*)\}", lambda found: content(found[1]), text)


def _older_run(entry: Mapping[str, Any], row: Row, gpu: str, workload: str, checkouts: Path) -> Measured:
    cases = counters_cases.launch_sizes(entry, workload)
    grid, block = counters_cases.extents(row["blocks"])
    total = sum(sizes["times"] for sizes in cases)
    source = checkouts.joinpath(*entry["source"].split(":", 1))
    code = _code(source, entry["kernel"], checkouts)
    parts = tuple(
        Part(code, counters_cases.launch_of(entry, sizes, grid, block, L2State.WARM), sizes["times"] / total)
        for sizes in cases
    )
    return Measured(
        data=OLDER,
        gpu=gpu,
        program=entry["name"],
        configuration=f"{row['coreF']}/{row['memF']} MHz",
        code=code,
        launches=(),
        seconds=float(row["time/ms"]) * 1e-3,
        clocks=Clocks(float(row["coreF"]) * MHZ, float(row["memF"]) * MHZ),
        parts=parts,
    )


def _nearest(gpu: str, rows: list[Row]) -> tuple[float, float]:
    """Return the measured (SM, memory) clocks in MHz nearest to the nominal ones."""
    known = find(gpu)
    pairs = {(float(row["coreF"]), float(row["memF"])) for row in rows}
    wanted = known.boost_clock / MHZ, known.memory_clock / MHZ
    return min(pairs, key=lambda pair: sum(abs(p / w - 1) for p, w in zip(pair, wanted, strict=True)))


def _code(source: Path, kernel: str, checkouts: Path) -> Code:
    return Code(source, kernel, include=tuple(str(checkouts / folder) for folder in INCLUDE))


def _rows(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
