"""How many runs of an autotuner a ranking by prediction saves, and what it costs.

Run ``python -m validation.autotuners.savings --data FOLDER --hub FOLDER --ktt FOLDER`` from the repository
root (the folders of ``time_tuned.py``, whose executions it uses; what those lack is not computed).
``--tuner`` adds a real run of Kernel Tuner (``autotuners_tuner.py``), ``--choices FOLDER`` the published
choices of a Triton kernel (``autotuners_triton.py``). Writes ``docs/validation/autotuners.md``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.autotuners.figures import MODELS, Tuned
from validation.autotuners.page import page
from validation.timing import store as time_store
from validation.timing.cases import Compared
from validation.timing.page import stamp
from validation.timing.searches import SEARCHES
from validation.timing.tuned import answered, execution_key, execution_store
from validation.timing.tuning import SAMPLE, sampled
from warpwatt.core.program import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.timing.searches import Search

PAGE = ROOT / "docs" / "validation" / "autotuners.md"


def main(arguments: Sequence[str] = ()) -> None:
    """Compute everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--hub", type=Path, default=ROOT.parent / "fetched" / "benchmark_hub")
    parser.add_argument("--ktt", type=Path, default=ROOT.parent / "fetched" / "ktt")
    parser.add_argument("--choices", type=Path, help="folder of published choices of a Triton kernel")
    parser.add_argument("--tuner", action="store_true", help="run Kernel Tuner itself, too")
    options = parser.parse_args(list(arguments))
    checkouts = {"hub": options.hub, "ktt": options.ktt}
    made = stamp()  # before anything is computed: what is computed is of the commit that was loaded
    found = [tuned(search, options.data, checkouts[search.checkout]) for search in SEARCHES]
    text = page(found, _extra(options), made)
    PAGE.write_text(text)
    print(text)


def _extra(options: argparse.Namespace) -> list[str]:
    """Return the sections that take minutes, where they were asked for."""
    sections = []
    if options.tuner:
        from validation.autotuners.kernel_tuner import section

        sections.append(section(options.data, options.hub))
    if options.choices:
        from validation.autotuners.triton_choices import section as choices

        sections.append(choices(options.choices))
    return sections


def tuned(search: Search, folder: Path, checkout: Path) -> Tuned:
    """Return measured and predicted times of the configurations whose executions are kept."""
    every, _ = sampled(search, folder, checkout, sys.maxsize)
    kept = [
        run
        for run in every[search.looked_at : SAMPLE]
        if time_store.has(execution_store(), execution_key(run, Level.SASS))
    ]
    compared = [Compared(run, answered(run, Level.SASS)) for run in kept]
    compared = [c for c in compared if all(model in c.answers for model in MODELS)]
    return Tuned(
        search,
        tuple(c.measured.seconds for c in compared),
        {model: tuple(c.answers[model].seconds for c in compared) for model in MODELS},
        min(run.seconds for run in every),
        len(every),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
