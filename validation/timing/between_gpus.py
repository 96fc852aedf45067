"""How much of the time model's error is one GPU's own: what does not cancel where GPUs are compared.

Run ``python -m validation.timing.between_gpus DUMP`` with a dump that ``python -m validation.timing.unseen
--dump DUMP`` wrote. Writes ``docs/validation/time_between_gpus.md``.
"""

from __future__ import annotations

import math
import pickle
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from validation import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from validation.timing.cases import Compared

PAGE = ROOT / "docs" / "validation" / "time_between_gpus.md"
MODEL = "pipeline"
HELD = 0.8
QUANTILE = 1.2816
"""Standard deviations within which a normal distribution has 80 %."""
TEXT = """# What the time model gets wrong on one GPU and not on another

Written by `python -m validation.timing.between_gpus`; do not edit.

`recommend` compares GPUs draw by draw: what is wrong on all alike cancels. What does not cancel is measured
here, on the rows of [time_unseen.md](time_unseen.md): programs that were measured on every GPU of a data set,
log(predicted / measured) averaged over their configurations and clocks, taken apart into a part of the
program, a part of the GPU and the rest (two-way analysis of variance). The last columns compare every program
on every pair of GPUs: half of the errors of a predicted ratio are below the first number, 80 % below the
second.

| data | programs | GPUs | program | GPU | program on a GPU | median error | 80 % |
|---|---|---|---|---|---|---|---|
{rows}

The columns *program*, *GPU*, *program on a GPU* are standard deviations of the logarithm.
`choose/gpu_choice.py` takes {gpu:.2f} for a GPU, and {own:.2f} for a kernel on a GPU: the root mean square
over the three data sets of what the 80 % column implies beyond the GPU's own part, which a few programs that
are far off do not decide.
"""


@dataclass(frozen=True)
class Parts:
    """Standard deviations of one data set, and quantiles of the errors of ratios."""

    data: str
    programs: int
    gpus: int
    program: float
    gpu: float
    rest: float
    median: float
    most: float


def main(arguments: list[str]) -> None:
    """Write the page."""
    compared: list[Compared] = pickle.loads(Path(arguments[0]).read_bytes())
    by_data: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in compared:
        if MODEL in one.answers:
            by_data[one.measured.data][one.measured.program, one.measured.gpu].append(one.log_ratio(MODEL))
    found = [taken_apart(data, table(cells)) for data, cells in by_data.items()]
    rows = "\n".join(_line(one) for one in found)
    PAGE.write_text(TEXT.format(rows=rows, gpu=max(one.gpu for one in found), own=own(found)))
    print(rows)


def table(cells: dict[tuple[str, str], list[float]]) -> NDArray[np.float64]:
    """Return a row per program that was measured on every GPU, a column per GPU."""
    programs, gpus = (sorted({key[at] for key in cells}) for at in (0, 1))
    whole = [[np.mean(cells.get((program, gpu), [math.nan])) for gpu in gpus] for program in programs]
    array: NDArray[np.float64] = np.array(whole)
    return array[~np.isnan(array).any(axis=1)]


def taken_apart(data: str, errors: NDArray[np.float64]) -> Parts:
    """Return the parts of errors by program (rows) and GPU (columns)."""
    programs, gpus = errors.shape
    rows, columns = errors.mean(axis=1) - errors.mean(), errors.mean(axis=0) - errors.mean()
    rest = errors - errors.mean() - rows[:, None] - columns[None, :]
    square = (rest**2).sum() / ((programs - 1) * (gpus - 1))
    pairs = np.abs(np.concatenate([errors[:, a] - errors[:, b] for a, b in combinations(range(gpus), 2)]))
    return Parts(
        data, programs, gpus,
        _above(gpus * (rows**2).sum() / (programs - 1), square, gpus),
        _above(programs * (columns**2).sum() / (gpus - 1), square, programs),
        math.sqrt(square),
        float(np.quantile(pairs, 0.5)),
        float(np.quantile(pairs, HELD)),
    )  # fmt: skip


def _above(mean_square: float, rest: float, times: int) -> float:
    return math.sqrt(max(0.0, (mean_square - rest) / times))


def own(parts: Sequence[Parts]) -> float:
    """Return the deviation of a kernel on a GPU that the 80 % of all data sets imply."""
    squares = [(one.most / QUANTILE) ** 2 / 2 - one.gpu**2 for one in parts]
    return math.sqrt(sum(squares) / len(squares))


def _line(one: Parts) -> str:
    numbers = f"{one.program:.3f} | {one.gpu:.3f} | {one.rest:.3f}"
    shares = (f"{math.expm1(x):.0%}".replace("%", " %") for x in (one.median, one.most))
    return f"| {one.data} | {one.programs} | {one.gpus} | {numbers} | {' | '.join(shares)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
