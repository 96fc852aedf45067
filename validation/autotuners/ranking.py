"""How good the probabilities of ``warpwatt rank`` are: Brier scores over pairs of tuned configurations.

Run ``python -m validation.autotuners.ranking --journal FILE --data FOLDER --hub FOLDER --ktt FOLDER`` from
the repository root (the folders of ``validation/timing/tuned.py``). Every prediction is a line of the
journal: a run that was stopped goes on where it was, ``--page`` writes the page of what there is. Writes
``docs/validation/ranking.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.autotuners.ranking_page import MODELS, Row, page
from validation.timing.searches import SEARCHES
from validation.timing.tuning import SAMPLE, sampled
from warpwatt.compose import Choice, predict
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.cases import Measured
    from validation.timing.searches import Search

PAGE = ROOT / "docs" / "validation" / "ranking.md"
DIGITS = 6


def main(arguments: Sequence[str] = ()) -> None:
    """Predict what the journal lacks, then write the page."""
    options = _options(arguments)
    known = {(row["search"], row["configuration"]) for row in _lines(options.journal)}
    if not options.page:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for search, run in _turns(options):
            if (search.file, run.configuration) not in known:
                with options.journal.open("a") as journal:
                    journal.write(json.dumps(_line(search, run, commit)) + "\n")
    PAGE.write_text(page([_row(line) for line in _lines(options.journal) if "models" in line]))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--hub", type=Path, default=ROOT.parent / "fetched" / "benchmark_hub")
    parser.add_argument("--ktt", type=Path, default=ROOT.parent / "fetched" / "ktt")
    parser.add_argument("--sample", type=int, default=60, help="configurations of each search")
    parser.add_argument("--page", action="store_true", help="write the page from what there is")
    return parser.parse_args(list(arguments))


def _lines(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


def _turns(options: argparse.Namespace) -> list[tuple[Search, Measured]]:
    """Return the searches in turn: rows of the sample behind those that were seen while models were made."""
    checkouts = {"hub": options.hub, "ktt": options.ktt}
    taken = []
    for search in SEARCHES:
        runs, _ = sampled(search, options.data, checkouts[search.checkout], SAMPLE)
        taken.append([(search, run) for run in runs[search.looked_at :][: options.sample]])
    return [one for turn in zip(*taken, strict=False) for one in turn]


def _line(search: Search, run: Measured, commit: str) -> dict[str, Any]:
    """Predict one configuration; the line says why where that fails."""
    base = {"search": search.file, "gpu": run.gpu, "configuration": run.configuration, "commit": commit}
    gpu, (launch,) = find(run.gpu), run.launches
    options = CompileOptions(defines=run.code.defines, toolkit=run.code.toolkit, cached=False)
    try:
        kernel = replace(load_kernel(run.code.source, gpu.target, options, run.code.kernel), ptx=None)
        execution = analyse_launch(kernel, launch, (Level.SASS,))
        models = {
            model: _draws(predict(kernel, launch, gpu, choice=Choice(time=model), execution=execution))
            for model in MODELS
        }
    except WarpWattError as error:
        return {**base, "error": str(error)}
    return {**base, "seconds": run.seconds, "models": models}


def _draws(prediction: Any) -> list[float]:
    """Return the predicted time and its draws."""
    time = prediction.time
    return [float(f"{x:.{DIGITS}g}") for x in (time.value, *time.draws)]


def _row(line: dict[str, Any]) -> Row:
    search = next(search for search in SEARCHES if search.file == line["search"])
    suite = "KTT" if search.checkout == "ktt" else "Kernel Tuner"
    times = {model: tuple(values) for model, values in line["models"].items()}
    return Row(search.name, f"{search.name}, {line['gpu']}, {suite}", line["commit"], line["seconds"], times)


if __name__ == "__main__":
    main(sys.argv[1:])
