"""Kernels explained line by line, and the explanation checked: edited as advised and predicted again.

Run ``python -m validation.explanations.edits [GPU ...]`` from the repository root; needs nothing beyond the
checkout. Each file of ``validation/explanations/kernels/`` holds a kernel before and after the edit that its
advice asks for. What the advice says the edit would save stands beside what the edited kernel is predicted to
take. Writes ``docs/validation/explained.md``.
"""

from __future__ import annotations

import math
import sys
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing.page import stamp
from warpwatt.compose import advised, predict
from warpwatt.core.program import Level
from warpwatt.core.units import si
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find
from warpwatt.render.annotated import advice_table, annotated
from warpwatt.render.console import to_text
from warpwatt.render.context import Context
from warpwatt.request.directives import read_directives
from warpwatt.what_if.whatif import CHANGE_SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warpwatt.core.advice import Advice
    from warpwatt.core.gpu import Gpu
    from warpwatt.core.prediction import Prediction

PAGE = ROOT / "docs" / "validation" / "explained.md"
KERNELS = ROOT / "validation" / "explanations" / "kernels"
GPUS = ("h200", "rtx3090")
HEAD = "kernel | GPU | before | limited by | advice | rank | advice saves | edited | edit saves | difference"
CLOSE = 0.03
"""Shares of the time that may lie between advice and edited kernel without a reason given."""
PROTOCOL = """\
Written by `python -m validation.explanations.edits` on {date} at commit {commit}; do not edit.

Each kernel of `validation/explanations/kernels/`, written for this page with one trouble each, is explained
(`warpwatt explain`) and edited as the advice says; the edited kernel is compiled, emulated and predicted like
any other. "Advice saves" is the share of the time that the explanation said the change would save, found by
simulating the *first* kernel without that trouble, with its 80 % interval: most of the model's uncertainty
cancels in it because both times share it, what remains is how far an edit does what was advised; "edit
saves" what the edited kernel is predicted to save; "rank" the place of this advice among all that was given.
This checks that explanations agree with the model, not that the model agrees with hardware: for that see
time_models.md.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel before and after an edit, on one GPU."""

    file: str
    edit: str
    why: str
    before: Prediction
    after: Prediction
    advice: Advice | None
    rank: int

    @property
    def saved(self) -> float:
        """Share of the time that the edit saves."""
        return 1 - self.after.time.value / self.before.time.value

    @property
    def missed(self) -> float:
        """Share of the time by which the advice missed that."""
        return (self.advice.share if self.advice else 0.0) - self.saved


def main(names: Sequence[str] = GPUS) -> None:
    """Print the page and write it."""
    table = tomllib.loads(
        (ROOT / "validation" / "explanations" / "explained.toml").read_text(encoding="utf-8")
    )
    pairs = [_pair(row, find(name)) for row in table["pair"] for name in names]
    text = page(pairs)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def _pair(row: dict[str, str], gpu: Gpu) -> Pair:
    before, after = (_predicted(KERNELS / row["file"], name, gpu) for name in ("before", "after"))
    before = advised(before)
    given = [a.kind for a in before.advice or ()]
    rank = given.index(row["kind"]) if row["kind"] in given else -1
    advice = before.advice[rank] if before.advice and rank >= 0 else None
    return Pair(row["file"], row["edit"], row.get("why", ""), before, after, advice, rank + 1)


def _predicted(path: Path, name: str, gpu: Gpu) -> Prediction:
    source = read_source(str(path))
    text = next(t for t in read_directives(source.data.decode(), source.name) if t.kernel == name)
    options = CompileOptions(levels=frozenset({Level.SASS}))
    return predict(load_kernel(source, gpu.target, options, name), text.read().launch, gpu)


def page(pairs: Sequence[Pair]) -> str:
    """Return the page."""
    parts = ["# Explanations, checked by following them", PROTOCOL.format(**stamp()).strip(), *_table(pairs)]
    parts += ["## Where advice and edit differ", *_differences(pairs), "## Line by line"]
    first = pairs[0].before.case.gpu.name
    for pair in pairs:
        if pair.before.case.gpu.name == first:
            parts += [f"### {pair.file}, on {first}", _listing(pair.before)]
    return "\n\n".join(parts) + "\n"


def _table(pairs: Sequence[Pair]) -> Iterator[str]:
    rows = [HEAD]
    rows.append(" | ".join(["---"] * 10))
    rows += [" | ".join(_row(pair)) for pair in pairs]
    yield "\n".join(f"| {row} |" for row in rows)
    sizes = sorted(abs(pair.missed) for pair in pairs)
    near = sum(size <= CLOSE for size in sizes)
    yield (
        f"{near} of {len(sizes)} within {CLOSE:.0%} of the time, the median {sizes[len(sizes) // 2]:.1%}, "
        f"the largest {sizes[-1]:.1%}. Root mean square of log(edited / advised time): {_spread(pairs):.2f}; "
        f"intervals take {CHANGE_SPREAD}."
    )


def _spread(pairs: Sequence[Pair]) -> float:
    logs = [math.log(p.after.time.value / p.advice.time.value) for p in pairs if p.advice is not None]
    return math.sqrt(sum(x * x for x in logs) / len(logs))


def _row(pair: Pair) -> list[str]:
    before, advice = pair.before, pair.advice
    now = before.time.value
    said = "none given" if advice is None else advice.text
    share = "" if advice is None else f"{advice.share:.1%} ({_interval(before, advice)})"
    return [
        pair.file.removesuffix(".cu"), before.case.gpu.name, si(now, "s"), before.timing.bottleneck, said,
        str(pair.rank or "–"), share, si(pair.after.time.value, "s"), f"{pair.saved:.1%}",
        f"{100 * pair.missed:+.1f} points",
    ]  # fmt: skip


def _interval(before: Prediction, advice: Advice) -> str:
    share = before.time.combine(advice.time, lambda now, then: 1 - then / now, "")
    return f"{share.low:.0%}–{share.high:.0%}"


def _differences(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        if abs(pair.missed) > CLOSE:
            why = pair.why or "not explained yet"
            yield f"- {pair.file}, {pair.before.case.gpu.name}, {100 * pair.missed:+.1f} points: {why}."


def _listing(prediction: Prediction) -> str:
    """Return what ``warpwatt explain`` shows of the source and the advice."""
    path = prediction.case.kernel.source
    names = {line.file for line in prediction.lines}
    texts = {name: path.read_text(encoding="utf-8") for name in names} if path else {}
    context = Context(width=100, sources=texts)
    parts = [advice_table(prediction.advice or ()), *annotated(prediction, context)]
    return f"```text\n{to_text(parts, context).rstrip()}\n```"


if __name__ == "__main__":
    main(sys.argv[1:] or GPUS)
