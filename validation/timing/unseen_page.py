"""The Markdown page of ``validation/timing/unseen.py``; every number on it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.timing.dvfs import NAME as APPLICATIONS
from validation.timing.dvfs import OLDER, misses
from validation.timing.neusight import NAME as OPERATORS
from validation.timing.neusight import SAMPLE, SEED
from validation.timing.page import grouped, programs, rows_left_out, stamp, table

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from validation.timing.cases import Compared

PROTOCOL = """\
Written by `python -m validation.timing.unseen` on {date} at commit {commit}; do not edit.

**Unseen at first**: the models were built, and their constants chosen, without a look at these measurements.
{state}

- *Applications*: 15 of the 20 applications of github.com/blackjack2015/NV-DVFS-Benchmark (branch master,
  commit f189504) on Quadro RTX 8000 and V100, at ten locked SM clocks (V100: those from 705 MHz on). The
  public sources are compiled; launches follow from them and the argument lines
  (`validation/timing/time_dvfs.toml`). The measured time is the interval between two events around everything
  in the timed loop, which the profiler confirms where both exist (hotspot on V100). Caches as the previous
  repeat leaves them; SM clocks as measured.
- *Applications on older GPUs*: GTX 980, Titan X (Pascal), P100 and V100 of branch wsl, times per launch, at
  the pair of clocks nearest to the data sheet's; launches in `validation/counters/counters.toml`. **The
  counters of these launches were looked at** while emulation was built, their times were not.
- *Operators*: PyTorch 2.1 elementwise, softmax and layer-norm kernels on P4, P100, V100, T4 and A100
  (github.com/sitar-lab/NeuSight, commit 6945927, training split), {sample} rows per operator and GPU (seed
  {seed}). Our own kernels of the shape that names, grids and blocks show. L2 as other data leave it, nominal
  boost clocks. What is measured around a kernel (the time at size 0 of a line through all sums of two
  tensors on that GPU) is taken off.

Compiler: CUDA 13, or CUDA 12's PTX below compute capability 7.5; the measured programs came from CUDA 8 to
12. Baselines, columns and error are those of time_models.md: error is (predicted − measured)/measured in
percent, bias its median with sign, "order" Spearman's correlation within the rows of one program on one GPU.
"""
LATER = """\
The first full run, before anybody looked at an error, is kept in time_unseen_first.md. Since then: R2P and
addresses in immediates are emulated; a repeated launch no longer finds in L2 a share of what is larger than
it; two programs that were measured with other arguments are left out; the RTX 8000's memory clock is 7000
MHz; what is measured around the operators is taken off. **By now they are development rows**
(time_development.md): causes of errors were looked for in them, and chosen on some of them were how fast L2
fills on V100 and GTX 980, barriers before Volta, and the bandwidths of P100, T4 and P4, which are those of
the operators. Programs that are still set aside: programs_counters.md."""


def page(compared: Sequence[Compared], left_out: Mapping[str, Counter[str]], state: str = LATER) -> str:
    """Return the page."""
    protocol = PROTOCOL.format(**stamp(), state=state, sample=SAMPLE, seed=SEED).strip()
    parts = ["# Time models on unseen programs", protocol, "## Rows left out", rows_left_out(left_out)]
    data = grouped(compared, lambda c: c.measured.data)
    if APPLICATIONS in data:
        parts += ["## Applications, highest clock", _by_gpu(highest(data[APPLICATIONS]))]
        parts += ["## Applications, every clock", _by_gpu(data[APPLICATIONS])]
    for name in (OLDER, OPERATORS):
        if name in data:
            parts += [f"## {name[0].upper()}{name[1:]}", _by_gpu(data[name])]
    every = [c for c in compared if c.measured.data != APPLICATIONS] + highest(data.get(APPLICATIONS, []))
    parts += ["## All, applications at the highest clock", table(every, "", lambda _: "all")]
    parts += ["## Misses, from worked cases", "\n".join(f"- **{m['where']}**: {m['why']}" for m in misses())]
    for name, group in data.items():
        shown = highest(group) if name == APPLICATIONS else group
        for model in ("pipeline", "roofline"):
            parts += [f"## {name[0].upper()}{name[1:]}, program by program: {model}", programs(shown, model)]
    return "\n\n".join(parts) + "\n"


def highest(group: Sequence[Compared]) -> list[Compared]:
    """Return those at the highest clock of their GPU."""
    top = {
        gpu: max(c.measured.clocks.sm for c in members if c.measured.clocks)
        for gpu, members in grouped(group, lambda c: c.measured.gpu).items()
    }
    return [c for c in group if c.measured.clocks and c.measured.clocks.sm == top[c.measured.gpu]]


def _by_gpu(group: Sequence[Compared]) -> str:
    return table(group, "GPU", lambda c: c.measured.gpu)
