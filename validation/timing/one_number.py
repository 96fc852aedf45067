"""Ten kernels in every place that shows a number: what each of them says.

Run ``python -m validation.timing.one_number`` from the repository root; it writes
``docs/validation/one_number.md``. Kernels and places are those of ``tests/test_one_number.py``, which fails
where two places differ.
"""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

from tests.test_one_number import BODIES, GPU, source_of

import warpwatt
from validation import ROOT
from validation.timing.page import stamp
from warpwatt.choose.recommend import recommend
from warpwatt.core.units import si
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find_many
from warpwatt.render import brief, explain, text
from warpwatt.render.context import Context
from warpwatt.render.figures import quantity
from warpwatt.request.directives import read_directives
from warpwatt.server.lsp.extract import facts_of
from warpwatt.server.lsp.lenses import lens_text
from warpwatt.server.tasks.tasks import predict as answer_page
from warpwatt.sweep.run import run
from warpwatt.sweep.sweep import Sweep
from warpwatt.sweep.tasks import kernel_tasks
from warpwatt.workers.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.prediction import Prediction

PAGE = ROOT / "docs" / "validation" / "one_number.md"
PLACES = ("Python", "predict", "explain", "brief", "editor", "sweep", "recommend", "page")
TIME = re.compile(r"[\d.,]+ (?:ns|µs|ms|s)\b")
PROTOCOL = """\
# One number in every place

Written by `python -m validation.timing.one_number` on {date} at commit {commit}; do not edit.

Ten kernels of `tests/test_one_number.py` on {gpu}, asked for in eight places: the Python interface, `predict`
and `explain` as text, `--format brief`, the editor's lens, `sweep`, `recommend` (the clock it compares with)
and the web page's report. Shown is the time as each place prints it; the test compares power, energy,
intervals and what limits, too, and another clock. {agreement}

| kernel | limited by | {places} |
|---|---|{rule}|
"""


def main() -> None:
    """Print and write the page."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # where the page's task writes the source
        file = Path(folder) / "ten.cu"
        file.write_text(source_of(BODIES))
        rows = list(_rows(file))
    same = sum(len(set(times)) == 1 for _, _, times in rows)
    agreement = f"**{same} of {len(rows)} say one number everywhere.**"
    head = PROTOCOL.format(
        **stamp(), gpu=find_many(GPU)[0].name, agreement=agreement, places=" | ".join(PLACES),
        rule="|".join("---:" for _ in PLACES),
    )  # fmt: skip
    lines = [f"| {name} | {limit} | {' | '.join(times)} |" for name, limit, times in rows]
    page = head + "\n".join(lines) + "\n"
    PAGE.write_text(page)
    print(page)


def _rows(file: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kernel, what limits it, and the time as every place says it."""
    predictions = warpwatt.predict_all(file, gpu=GPU)
    source = read_source(str(file))
    sweep = Sweep(kernel_tasks(source, read_directives(source.text, source.name)), find_many(GPU))
    swept = list(run(sweep))
    chosen = {found.baseline.launch: found.baseline for found in recommend(sweep, swept, "energy")}
    asked = {"source": file.read_text(), "advice": False}
    answer = json.loads(answer_page(asked, Limits(), confined=False)["document"])["predictions"]
    for number, one in enumerate(predictions):
        report = next(page["time"]["value"] for page in answer if page["kernel"] == one.kernel_name)
        others = (swept[number].time, chosen[number].time)
        shown = [si(time.value, "s") if time is not None else "nothing" for time in others]
        times = [quantity(one.time), *_told(one), *shown, si(report, "s")]
        yield one.kernel_name.partition("(")[0], one.timing.bottleneck, times


def _told(one: Prediction) -> Iterator[str]:
    """Yield the first time that each text says."""
    line = json.loads(brief.render([one], Context()))["predictions"][0]
    yield _first(text.render([one], Context()))
    yield _first(explain.render([one], Context()))
    yield si(line["time_s"]["value"], "s")
    yield _first(lens_text(facts_of(one, "")))


def _first(told: str) -> str:
    found = TIME.search(told)
    return found[0] if found else "nothing"


if __name__ == "__main__":
    main()
