"""How right the power model ``component+learned`` is on programs and GPUs that it was not trained on.

Run ``python -m validation.power.learned --cache FILE`` from the repository root, where FILE holds the
analysed cases that ``validation.power.models --cache`` kept. Writes ``docs/validation/power_learned.md``, and
the trained model with its card (``src/warpwatt/models/learned``).
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from validation import ROOT
from validation.power.judge import die
from validation.power.learned_page import page
from validation.power.residuals import Priors, constant_watts, thinned
from warpwatt import __version__
from warpwatt.lab.learn.physics import ALWAYS, SETTINGS, Residuals, export, factors, fit
from warpwatt.models.component.parameters import COMPONENTS
from warpwatt.models.trained.file import write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from validation.power.by_hand import PowerCase
    from validation.power.residuals import Residual

    Mask = np.ndarray[Any, np.dtype[np.bool_]]

PAGE = ROOT / "docs" / "validation" / "power_learned.md"
MODEL = ROOT / "src" / "warpwatt" / "models" / "learned"
NEVER = ("fp16", "tensor", "uniform")
"""Components that no measured program exercises."""
FEATURES = (
    *(f"share.{name.replace(' ', '_')}" for name in COMPONENTS if name not in NEVER),
    "utilisation.dram", "utilisation.fp32", "utilisation.int", "utilisation.sfu", "issue.per_sm_clock",
    "l2.per_sm_clock", "l1.per_sm_clock", "shared.per_sm_clock", "lanes", "occupancy", "active_sms",
    "clock.sm_share", "clock.memory_share", "limit_share",
)  # fmt: skip
"""Features learned from: all without a unit, so that GPUs of other sizes have the same range."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What was said of the rows of a setting: watts by model, in the order of the rows."""

    title: str
    rows: Sequence[Residual]
    said: dict[str, list[float]]


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it and the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    options = parser.parse_args(list(arguments))
    cases, _ = pickle.loads(options.cache.read_bytes())
    kept = thinned(cases)
    outcomes, trained_on = judge(kept)
    write_model(trained_on, outcomes)
    text = page(outcomes, FEATURES)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def judge(cases: Sequence[PowerCase]) -> tuple[list[Outcome], list[Residual]]:
    """Return every setting's outcome, and the rows that the shipped model is trained on."""
    analysed = [case for case in cases if case.predicted is not None]
    before, measured = Priors(cases), Priors(cases, measured_time=True)
    own = [p.residual(c, own=True) for p in (before, measured) for c in analysed]
    outcomes = [_outcome("Programs left out", own, analysed, _other_program, own=True)]
    base = [p.residual(c, own=False) for p in (before, measured) for c in analysed]
    for title, may_train in (
        ("GPUs left out, their programs too", _other_gpu_and_program),
        ("GPUs left out, programs known from other GPUs", _other_gpu),
    ):
        rows: dict[str, list[Residual]] = {}
        for chip in sorted({row.die for row in base}):
            out = frozenset({chip})
            rows[chip] = [p.residual(c, own=False, dies=out) for p in (before, measured) for c in analysed]
        outcomes.append(_outcome(title, base, analysed, may_train, own=False, training=rows))
    return outcomes, own


def _other_program(row: Residual, test: Residual) -> bool:
    return row.program != test.program


def _other_gpu(row: Residual, test: Residual) -> bool:
    return row.die != test.die


def _other_gpu_and_program(row: Residual, test: Residual) -> bool:
    return _other_gpu(row, test) and _other_program(row, test)


def _outcome(
    title: str,
    rows: Sequence[Residual],
    cases: Sequence[PowerCase],
    may_train: Callable[[Residual, Residual], bool],
    *,
    own: bool,
    training: dict[str, list[Residual]] | None = None,
) -> Outcome:
    """Answer every row by a model trained on the rows that may train for it; both kinds of seconds train."""
    corrected, constant = np.array([row.prior for row in rows]), np.zeros(len(rows))
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, row in enumerate(rows):
        key = tuple(may_train(other, row) for other in rows)
        groups.setdefault(key, []).append(i)
    for members in groups.values():
        first = rows[members[0]]
        source = rows if training is None else training[first.die]
        chosen = [row for row in source if may_train(row, first)]
        test = learnable([rows[i] for i in members])
        corrected[members] *= factors(fit(learnable(chosen)), test.x)
        for i in members:
            constant[i] = constant_watts(chosen, rows[i], own=own)
    half = len(cases)
    prior = [row.prior for row in rows]
    said = {
        "constant": constant.tolist(),
        "component": prior,
        "component+learned": corrected.tolist(),
    }
    parts = {f"{name}, {when}": values[cut] for name, values in said.items()
             for when, cut in (("before", slice(half)), ("measured", slice(half, None)))}  # fmt: skip
    return Outcome(title, rows[:half], parts)


def learnable(rows: Sequence[Residual]) -> Residuals:
    """Return rows as numbers."""
    x = np.array([[row.features[name] for name in FEATURES] for row in rows], dtype=np.float64)
    group = [(row.case.data, row.case.gpu, row.case.program) for row in rows]
    return Residuals(FEATURES, x, np.array([row.log_ratio for row in rows]), group)


def write_model(rows: Sequence[Residual], outcomes: Sequence[Outcome]) -> None:
    """Train on all rows and write the model and its card."""
    from validation.power.learned_page import card_markdown, figures

    ready = learnable(rows)
    card = {
        "model": {
            "name": "component+learned",
            "source": "validation/power/learned.py",
            "hyper-parameters": {**SETTINGS, **ALWAYS},
        },
        "data": {
            "sets": sorted({row.case.data for row in rows}),
            "gpus": sorted({row.case.gpu for row in rows}),
            "chips": sorted({die(row.case.measured.gpu) for row in rows}),
            "programs": sorted({row.case.program for row in rows}),
            "rows": len(rows),
        },
        "figures": {outcome.title: figures(outcome) for outcome in outcomes},
        "limits": [
            "It corrects the component model on the GPUs it was trained on, and nothing elsewhere.",
            "No measured program uses tensor cores or half precision.",
            "Power was measured in loops with gaps of about 15 µs between launches.",
        ],
        "versions": {"warpwatt": __version__, **{name: version(name) for name in ("numpy", "xgboost-cpu")}},
    }
    write(MODEL / "model.json", card, export(fit(ready), ready))
    (MODEL / "model.md").write_text(card_markdown(card), encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
