"""The peers of Alavani's thesis: Volkov's throughput model and the roofline with two bandwidths.

Run ``python -m validation.alavani.peers --data FOLDER`` from the repository root: the folder holds the public
data sets (default ``../shared/data``; its part is left out where absent). Writes
``docs/validation/peers.md``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.alavani.cases import published_kernels, thesis_case
from validation.alavani.peers_page import page
from validation.alavani.published_errors import GPUS, table_4_8
from validation.timing import pmpp as time_pmpp
from validation.timing.cases import Code, Compared, Measured, answer, cases
from warpwatt.core.errors import WarpWattError
from warpwatt.models.registry import time_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from warpwatt.core.case import Case
    from warpwatt.core.program import Level

PAGE = ROOT / "docs" / "validation" / "peers.md"
PEERS = ("volkov", "roofline-vendor", "roofline-fitted")
THESIS_MODELS = (*PEERS, "roofline", "alavani-ilp-tlp", "alavani-reservation")
MODERN_MODELS = (*PEERS, "pipeline", "roofline")


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args(list(arguments))
    text = page(thesis(), textbook(options.data))
    PAGE.write_text(text)
    print(text)


def thesis() -> list[Compared]:
    """Return our kernels that match a row of Table 4.8, on its four GPUs, by every model of the time."""
    found = []
    for column, gpu in GPUS.items():
        rows = {(r.benchmark, r.kernel): r for r in table_4_8(column)}
        for published in published_kernels():
            case = thesis_case(published, gpu)
            measured = Measured(
                data="thesis",
                gpu=gpu,
                program=published.kernel.name,
                configuration=", ".join(published.row),
                code=Code(Path(), published.kernel.name),
                launches=(published.launch,),
                seconds=rows[published.row].actual * 1e-6,
            )
            found.append(_compared(measured, THESIS_MODELS, lambda _, case=case: [case]))  # type: ignore[misc]
    return found


def textbook(data: Path) -> list[Compared]:
    """Return the textbook kernels on modern boards."""
    if not (data / time_pmpp.FILE).exists():
        return []
    return list(_textbook(time_pmpp.runs(data)[0]))


def _textbook(runs: Iterable[Measured]) -> Iterable[Compared]:
    for run in runs:

        def seen(levels: tuple[Level, ...], run: Measured = run) -> list[Case]:
            return cases(run, levels)

        yield _compared(run, MODERN_MODELS, seen)


def _compared(
    measured: Measured, models: Sequence[str], seen: Callable[[tuple[Level, ...]], list[Case]]
) -> Compared:
    """Return what each model says; one that refuses is absent."""
    answers = {}
    for model in models:
        try:
            answers[model] = answer(model, seen(time_model(model).levels))
        except WarpWattError as error:
            print(f"{model} refuses {measured.program} on {measured.gpu}: {error}", file=sys.stderr)
    return Compared(measured, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
