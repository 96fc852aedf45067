"""The Markdown page of ``validation/counters/compare_all.py``; every number on it is computed."""

from __future__ import annotations

import datetime
import statistics
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.counters.cases import NVPROF, RODINIA, manifest
from validation.counters.comparison import STAND_IN
from validation.counters.ours import COUNTERS
from validation.counters.tuning import SAMPLE, SEED
from warpwatt.core.program import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from validation.counters.comparison import Failure, Ratio

WANTED = {
    "transactions": (0.95, 1.05),
    "shared": (0.95, 1.05),
    "flops": (0.95, 1.05),
    "DRAM": (0.85, 1.15),
    "instructions": (0.95, 1.05),
}
SHORT = {
    "GeForce GTX 980": "GTX 980",
    "TITAN X (Pascal)": "Titan X (Pascal)",
    "Tesla P100 PCIe 16GB": "P100",
    "Tesla V100 PCIe 16GB": "V100",
    "Tesla K40m": "K40",
    "GeForce GTX TITAN X": "Titan X (Maxwell)",
    "GeForce RTX 2080 Ti": "RTX 2080 Ti",
}
PROTOCOL = """\
Written by `python -m validation.counters.compare_all` on {date} at commit {commit}; do not edit.

Predicted over measured, for launches whose counters are public and whose kernels' sources are. **Ours** is
emulation of sampled blocks (`emulate.first_execution.execute`) and the caches (`emulate.workload`). No
constant was fitted to these counters. Two rules were mended because they disagreed with them, after the
documentation was found: wide shared accesses by pairs of lanes, and loads that bypass L1 on Kepler, Maxwell
and most of Pascal. A third, what `gld_transactions` counts on Maxwell and Pascal, is documented nowhere and
was read off the data.

- *{nvprof}*: nvprof's metrics of {programs} programs on GTX 980, Titan X (Pascal), P100 and V100
  (github.com/blackjack2015/NV-DVFS-Benchmark, branch wsl); medians over clocks. The sources are those of
  branch master, of CUDA samples and of Rodinia: near, but not always the build that was measured.
- *{rodinia}*: nvprof's metrics on K40, Titan X (Maxwell) and P100 (github.com/marcosamaris/gpuperfpredict,
  CC BY 4.0), the smallest and the largest problem of each kernel.
- *autotuning_hub*: KTT's Nsight counters of the tuned convolution on RTX 2080 Ti, {sample} configurations
  (seed {seed}) of the kernel of github.com/AutoTuningAssociation/benchmark_hub (MIT). For the RTX 3090 the
  origin holds times only, so its executed instructions cannot be compared.

Grid and block are in the data. Sizes, arguments and contents are **inferred** from public host code and
command lines: `validation/counters/counters.toml`. Contents are random where the origin's are. nvdisasm reads
no machine code of GPUs before Turing: their *sass* is that of {stand_in}, a stand-in whose executed
instructions need not agree; that of the RTX 2080 Ti is its own. Compiler: CUDA 13.

What the counters count: global transactions are 32-byte sectors on Volta and 128-byte lines on Kepler; on
Maxwell and Pascal stores are sectors, but loads something smaller (`validation/counters/quads.py`, level
ptx only). Shared transactions are passes. Flops count a fused multiply-add twice, special functions not at
all, threads that a predicate leaves on. DRAM is compared where buffers are more than twice the L2; a side
of off-chip traffic where it is a twentieth of both.
"""
HEAD = "| counter | level | GPUs | n | median | quartiles | ±5 % | ±15 % | wanted |"


def page(ratios: Sequence[Ratio], failures: Sequence[Failure], absent: Sequence[str]) -> str:
    """Return the page."""
    parts = ["# Emulation beside hardware counters", _protocol(), "## All programs", _summary(ratios)]
    parts += ["Kinds together, every program on every GPU once per counter:", _kinds(ratios)]
    for counter in COUNTERS:
        mine = [r for r in ratios if r.counter == counter.name]
        if mine:
            parts += [f"## {counter.name[0].upper()}{counter.name[1:]}, program by program", _programs(mine)]
    parts += ["## Misses, from worked cases", _misses(), "## Not compared", _left_out(failures, absent)]
    return "\n\n".join(parts) + "\n"


def _protocol() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return PROTOCOL.format(
        date=datetime.datetime.now(tz=datetime.UTC).date(),
        commit=found.stdout.strip() or "unknown",
        nvprof=NVPROF,
        rodinia=RODINIA,
        programs=len(manifest()["program"]),
        sample=SAMPLE,
        seed=SEED,
        stand_in=STAND_IN,
    ).strip()


def _summary(ratios: Sequence[Ratio]) -> str:
    lines = [HEAD, "|---" * 9 + "|"]
    for counter in COUNTERS:
        for level in (Level.PTX, Level.SASS):
            mine = [r for r in ratios if r.counter == counter.name and r.level is level]
            for name, group in _grouped(mine, _generation).items():
                lines.append(f"| {counter.name} | {level} | {name} | {_cells(group)} |")
    return "\n".join(lines)


def _kinds(ratios: Sequence[Ratio]) -> str:
    lines = ["| kind | level | n | median | quartiles | ±5 % | ±15 % | wanted |", "|---" * 8 + "|"]
    for (kind, level), group in _grouped(ratios, lambda r: (r.kind, r.level)).items():
        lines.append(f"| {kind} | {level} | {_cells(_per_program(group))} |")
    return "\n".join(lines)


def _per_program(ratios: Sequence[Ratio]) -> list[Ratio]:
    """Return one ratio per program, GPU and counter: that in the middle, so that many sizes count once."""
    groups = _grouped(ratios, lambda r: (r.case.program, r.case.gpu, r.counter)).values()
    return [sorted(group, key=lambda r: r.value)[(len(group) - 1) // 2] for group in groups]


def _generation(ratio: Ratio) -> str:
    return "RTX 2080 Ti" if "2080" in ratio.case.gpu else "older"


def _cells(group: Sequence[Ratio]) -> str:
    values = sorted(r.value for r in group)
    asked = group[0].kind != "instructions" or "2080" in group[0].case.gpu
    low, high = WANTED.get(group[0].kind, (0.0, 0.0)) if asked else (0.0, 0.0)
    median = statistics.median(values)
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [median] * 3
    shares = [sum(abs(v - 1) <= width for v in values) / len(values) for width in (0.05, 0.15)]
    wanted = f"{low:.2f}-{high:.2f}: {'met' if low <= median <= high else 'missed'}" if high else ""
    return (
        f"{len(values)} | {median:.3f} | {quartiles[0]:.3f}-{quartiles[2]:.3f} "
        f"| {shares[0]:.0%} | {shares[1]:.0%} | {wanted}"
    )


def _programs(ratios: Sequence[Ratio]) -> str:
    """Medians per program and GPU, PTX / SASS."""
    gpus = [g for g in SHORT if any(r.case.gpu == g for r in ratios)]
    lines = ["| program | " + " | ".join(SHORT[g] for g in gpus) + " |", "|---" * (len(gpus) + 1) + "|"]
    for name, group in _grouped(ratios, lambda r: r.case.program).items():
        cells = [_levels([r for r in group if r.case.gpu == g]) for g in gpus]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "ptx / sass:\n\n" + "\n".join(lines)


def _levels(group: Sequence[Ratio]) -> str:
    def median(level: Level) -> str:
        values = [r.value for r in group if r.level is level]
        return f"{statistics.median(values):.3g}" if values else "-"

    return f"{median(Level.PTX)} / {median(Level.SASS)}" if group else ""


def _misses() -> str:
    return "\n".join(f"- **{m['where']}**: {m['why']}" for m in manifest()["miss"])


def _left_out(failures: Sequence[Failure], absent: Sequence[str]) -> str:
    lines = ["| program | why |", "|---|---|"]
    lines += [f"| {name} | {why} |" for name, why in manifest()["left_out"].items()]
    lines += [f"| {name} | source not found |" for name in absent]
    seen = {(f.case.program, str(f.level), _brief(f.reason)) for f in failures}
    lines += [f"| {name} ({level}) | {reason} |" for name, level, reason in sorted(seen)]
    return "\n".join(lines)


def _brief(reason: str) -> str:
    """Return the message without the file's folder."""
    place, _, message = reason.partition(": ")
    return f"{place.rpartition('/')[2]}: {message.partition(' at byte')[0]}".strip()


def _grouped(ratios: Sequence[Ratio], key: Callable[[Ratio], Any]) -> dict[Any, list[Ratio]]:
    found: dict[Any, list[Ratio]] = defaultdict(list)
    for ratio in ratios:
        found[key(ratio)].append(ratio)
    return dict(found)
