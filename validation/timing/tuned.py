"""How right the time models are on public searches over configurations, 500 of each.

Run ``python -m validation.timing.tuned --data FOLDER --hub FOLDER --ktt FOLDER`` from the repository root
(the folders: the public data sets, checkouts of the repositories that ``time_searches.py`` names). Writes
``docs/validation/time_tuned.md``. It can be stopped at any time: what was computed is kept, the page covers
what there is with ``--page``. ``--slice K/N`` computes every N-th configuration from the K-th on.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing import store as time_store
from validation.timing.cases import BASELINES, Compared, answer
from validation.timing.kept import compare_kept
from validation.timing.screen import screen
from validation.timing.searches import SEARCHES
from validation.timing.tuned_page import page
from validation.timing.tuning import SAMPLE, sampled
from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.emulate import analysis
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import default_clocks, find

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from validation.timing.cases import Answer, Measured
    from validation.timing.screen import Screen
    from validation.timing.searches import Search
    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Kernel

PAGE = ROOT / "docs" / "validation" / "time_tuned.md"
MODELS_OF = {
    Level.SASS: ("pipeline", "roofline", *BASELINES),
    Level.PTX: ("alavani-ilp-tlp", "alavani-reservation"),
}
"""Models by the level they are asked at, all of one level about the same execution."""
PTX_SAMPLE = 60
"""Configurations of each search that models of PTX see, which has to be emulated for them alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """The comparisons of one search, in the order of the sample, and the rows left out by reason."""

    search: Search
    compared: list[Compared]
    left_out: Counter[str]
    waiting: int
    """Sampled configurations that were not computed yet."""
    at_own_clock: list[Compared]
    """The same at the SM clock that the measurement itself shows; empty where it shows none."""
    screen: Screen | None
    usable: list[Measured]
    """All rows of the search that say a time."""


def main(arguments: Sequence[str] = ()) -> None:
    """Compute what is missing, then write the page."""
    options = _options(arguments)
    checkouts = {"hub": options.hub, "ktt": options.ktt}
    found = []
    samples = {s.file: sampled(s, options.data, checkouts[s.checkout], options.sample) for s in SEARCHES}
    if not (options.page or options.kept):
        for run, level in _turns([runs for runs, _ in samples.values()], *options.slice):
            answered(run, level)
    for search in SEARCHES:
        runs, left_out = samples[search.file]
        compared = _compared(runs, options.kept)
        own = [replace(c.measured, clocks=search.clocks) for c in compared] if search.clocks else []
        usable, _ = sampled(search, options.data, checkouts[search.checkout], sys.maxsize)
        waiting = len(runs) - len(compared)
        at_own = _compared(own, options.kept)
        found.append(Found(search, compared, left_out, waiting, at_own, screen(usable), usable))
    text = page(found)
    PAGE.write_text(text)
    print(text)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--hub", type=Path, default=ROOT.parent / "fetched" / "benchmark_hub")
    parser.add_argument("--ktt", type=Path, default=ROOT.parent / "fetched" / "ktt")
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--page", action="store_true", help="write the page from what there is")
    parser.add_argument("--kept", metavar="STORE", help="only what timing.development keeps there")
    parser.add_argument("--slice", type=_slice, default=(0, 1), metavar="K/N")
    return parser.parse_args(list(arguments))


def _slice(text: str) -> tuple[int, int]:
    first, _, step = text.partition("/")
    return int(first), int(step)


def _turns(samples: Sequence[Sequence[Measured]], first: int, step: int) -> Iterator[tuple[Measured, Level]]:
    """Yield the runs of all searches in turn, so that an interrupted run has some of each; tell progress."""
    turns = [(k, runs[k]) for k in range(max(map(len, samples))) for runs in samples if k < len(runs)]
    mine, begun = turns[first::step], time.monotonic()
    for done, (k, run) in enumerate(mine):
        if done % 20 == 0:
            print(f"{done} of {len(mine)}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        yield run, Level.SASS
        if k < PTX_SAMPLE:
            yield run, Level.PTX


def _compared(runs: Sequence[Measured], kept: str | None) -> list[Compared]:
    """Return the comparisons of the runs whose executions are kept; asking a model costs little.

    ``kept`` names the folder of another's, which has no PTX.
    """
    if kept:
        return compare_kept(runs, kept)
    found = []
    for run in runs:
        answers: dict[str, Answer] = {}
        for level in MODELS_OF:
            if time_store.has(execution_store(), execution_key(run, level)):
                answers |= answered(run, level)
        if answers:
            found.append(Compared(run, answers))
    return found


def answered(run: Measured, level: Level) -> dict[str, Answer]:
    """Return what the models that read one level say about a run; kept, or computed."""
    key = (*execution_key(run, level), run.gpu, run.clocks)
    return time_store.kept(f"answers-{time_store.version()}", key, lambda: _ask(run, level))


def _ask(run: Measured, level: Level) -> dict[str, Answer]:
    """Compute the answers; models that refuse the run are absent."""
    gpu, answers = find(run.gpu), {}
    try:
        kernel, execution = time_store.kept(
            execution_store(), execution_key(run, level), lambda: _execution(run, level)
        )
        work = workload(execution, gpu, kernel.resources)
    except WarpWattError as error:
        print(f"{run.program} {run.configuration} on {run.gpu}: {error}", file=sys.stderr)
        return {}
    case = Case(kernel, work, run.launches[0], gpu, run.clocks or default_clocks(gpu))
    for model in MODELS_OF[level]:
        try:
            answers[model] = answer(model, [case])
        except WarpWattError as error:
            print(f"{model} refuses {run.program} {run.configuration}: {error}", file=sys.stderr)
    return answers


def execution_store() -> str:
    """Return the folder of kept executions: named by the code that decides what a launch executes."""
    return f"executions-{time_store.version(*time_store.LOWER_FLOORS)}"


def execution_key(run: Measured, level: Level) -> tuple[object, ...]:
    """Return what an execution depends on; the GPU counts by its target only."""
    return run.code, find(run.gpu).target, run.launches, level


def _execution(run: Measured, level: Level) -> tuple[Kernel, Execution]:
    """Return kernel and execution; the compiled code stays out of the user's cache, which it would fill."""
    code, launch = run.code, run.launches[0]
    options = CompileOptions(defines=code.defines, toolkit=code.toolkit, cached=False)
    kernel = load_kernel(code.source, find(run.gpu).target, options, code.kernel)
    if level is Level.SASS:
        kernel = replace(kernel, ptx=None)
    found = kernel, analysis.analyse_launch(kernel, launch, (level,))
    analysis._analyse.cache_clear()  # what it holds of hundreds of kernels would fill the memory
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
