"""What tuning costs by prediction and by measuring, until a configuration within 2 % of the best is known.

Run ``python -m validation.autotuners.spent --journal FILE --search NAME [--count N] --data FOLDER --hub
FOLDER --ktt FOLDER`` from the repository root (folders and names of searches as in
``validation/timing/tuned.py``). Every prediction is a line of the journal: a run that was stopped goes on
where it was, ``--page`` writes ``docs/validation/tuning_time.md`` of what there is. Configurations are
compiled as one of many is (NVRTC where its machine code is nvcc's); CPU seconds are those of the process and
of compilers. ``--compiling N`` adds what compiling alone took for N of them; ``WARPWATT_CACHE_DIR`` should
name an empty folder, so that nothing is compiled already.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.autotuners.spent_page import page
from validation.timing.searches import SEARCHES
from validation.timing.tuning import SAMPLE, sampled
from warpwatt.compose import predict
from warpwatt.core.errors import WarpWattError
from warpwatt.frontend.configurations import COMPARED
from warpwatt.frontend.load import entries, load_kernel
from warpwatt.frontend.options import CompileOptions, Compiler
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.cases import Measured

PAGE = ROOT / "docs" / "validation" / "tuning_time.md"


def main(arguments: Sequence[str] = ()) -> None:
    """Predict what the journal lacks, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--search", action="append", default=[], choices=[s.file for s in SEARCHES])
    parser.add_argument("--count", type=int, default=SAMPLE)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--hub", type=Path, default=ROOT.parent / "fetched" / "benchmark_hub")
    parser.add_argument("--ktt", type=Path, default=ROOT.parent / "fetched" / "ktt")
    parser.add_argument("--compiling", type=int, default=0, metavar="N")
    parser.add_argument("--page", action="store_true", help="write the page from what there is")
    options = parser.parse_args(list(arguments))
    checkouts = {"hub": options.hub, "ktt": options.ktt}
    if not options.page:
        for search in (s for s in SEARCHES if s.file in options.search):
            runs, _ = sampled(search, options.data, checkouts[search.checkout], options.count)
            if options.compiling:
                for line in _compiling(search.file, runs[: COMPARED + 1 + options.compiling]):
                    _add(options.journal, line)
                continue
            known = {
                line["configuration"]
                for line in _lines(options.journal)
                if line["search"] == search.file and "cpu" in line
            }
            for run in runs:
                if run.configuration not in known:
                    _add(options.journal, _line(search.file, run))
    PAGE.write_text(page(_lines(options.journal)))


def _lines(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


def _add(journal: Path, line: dict[str, Any]) -> None:
    with journal.open("a") as out:
        out.write(json.dumps(line) + "\n")


def _compiling(search: str, runs: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return lines with the CPU seconds of compiling each but the first, which two compilers compile."""
    found = []
    for run in runs:
        code, begun = run.code, _processor_seconds()
        source = read_source(str(code.source))
        options = CompileOptions(defines=code.defines, toolkit=code.toolkit, compiler=Compiler.CONFIGURATION)
        with suppress(WarpWattError):
            entries(source, find(run.gpu).target, options)
        line = {"search": search, "configuration": run.configuration}
        found.append({**line, "compiling": _processor_seconds() - begun})
    return found[COMPARED + 1 :]


def _line(search: str, run: Measured) -> dict[str, Any]:
    """Return a prediction as a line of the journal: seconds predicted and measured, CPU seconds spent."""
    code, gpu, begun = run.code, find(run.gpu), _processor_seconds()
    line: dict[str, Any] = {"search": search, "configuration": run.configuration, "measured": run.seconds}
    options = CompileOptions(defines=code.defines, toolkit=code.toolkit, compiler=Compiler.CONFIGURATION)
    started = time.monotonic()
    try:
        kernel = load_kernel(code.source, gpu.target, options, code.kernel)
        line["load"] = _processor_seconds() - begun
        line["time"] = predict(kernel, run.launches[0], gpu).time.value
    except WarpWattError as error:
        line["error"] = str(error)
    return line | {"cpu": _processor_seconds() - begun, "wall": time.monotonic() - started}


def _processor_seconds() -> float:
    """Return the processor seconds of this process and its children, those that still run included."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = Path("/proc") / str(os.getpid())
    running = [pid for file in process.glob("task/*/children") for pid in file.read_text().split()]
    standing = sum(1e-9 * int((Path("/proc") / pid / "schedstat").read_text().split()[0]) for pid in running)
    return time.process_time() + children.ru_utime + children.ru_stime + standing


if __name__ == "__main__":
    main(sys.argv[1:])
