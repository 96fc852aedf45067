"""Pages of the rows whose executions ``timing.development`` keeps, where all rows are too dear.

Pages take ``--kept STORE``, the folder of ``development --keep``: then the pipeline, the roofline and the
classic bounds are asked about the rows that are kept, at every clock, and the page counts the others among
those left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from validation.timing import store as time_store
from validation.timing.cases import BASELINES, Compared, answer
from validation.timing.development import MODELS, cases, key_of
from warpwatt.core.errors import WarpWattError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from validation.timing.cases import Measured

WHY = "not in the sample of time_development.md, of which this page was made"


def compare_kept(runs: Sequence[Measured], store: str) -> list[Compared]:
    """Return those of the runs that are kept, with the answers of models and baselines."""
    return list(_compared(runs, store))


def _compared(runs: Sequence[Measured], store: str) -> Iterator[Compared]:
    for run in runs:
        if not time_store.has(store, key_of(run)):
            continue
        try:
            asked, times = cases(run, store)
            answers = {model: answer(model, asked, times) for model in (*MODELS, *BASELINES)}
        except WarpWattError as error:
            print(f"{run.program} {run.configuration} on {run.gpu}: {error}", file=sys.stderr)
        else:
            yield Compared(run, {model: given for model, given in answers.items() if given.seconds > 0})


def others(runs: Sequence[Measured], compared: Sequence[Compared]) -> Counter[str]:
    """Return how many of the runs are not among the compared ones, by reason."""
    missing = len(runs) - len(compared)
    return Counter({WHY: missing} if missing else {})
