"""What gradient boosting on the pipeline model's errors adds, for programs it was not trained on.

Run ``python -m validation.timing.residual DEVELOPMENT UNSEEN [--ship]``, the files that
``validation.timing.models
--dump`` and ``validation.timing.unseen --dump`` write. Trains on the first, leaving one program out at a
time, and on all of it for the second. Writes ``docs/validation/residual.md``; with ``--ship`` also the model
file of the package.
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from validation import ROOT
from validation.timing.page import stamp
from warpwatt import __version__
from warpwatt.lab.learn.export import estimator_section
from warpwatt.models.pipeline import Pipeline
from warpwatt.models.residual import FILE, STALLS, UNITS
from warpwatt.models.trained.file import scaling_section, sections, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from validation.timing.cases import Compared

    Floats = npt.NDArray[np.float64]

PAGE = ROOT / "docs" / "validation" / "residual.md"
SHIPPED = ROOT / "src" / "warpwatt" / "models" / FILE
SEED = 0
SETTINGS = {
    "n_estimators": 120,
    "learning_rate": 0.05,
    "max_depth": 3,
    "subsample": 0.7,
    "min_samples_leaf": 8,
}
"""Chosen beforehand: shallow trees, many rows per leaf; nothing was tuned."""
NAMES = (
    *(f"busy.{unit}" for unit in UNITS), *(f"stall.{stall}" for stall in STALLS),
    "log seconds", "log waves", "log warps",
)  # fmt: skip
THESIS = "thesis, Table 4.8"


@dataclass(frozen=True)
class Rows:
    """Rows of a dump: features, log(measured / predicted), program and GPU of each."""

    x: Floats
    y: Floats
    programs: tuple[str, ...]
    gpus: tuple[str, ...]

    @property
    def weights(self) -> Floats:
        """Every program weighs the same."""
        counts = Counter(self.programs)
        return np.array([1.0 / counts[program] for program in self.programs]) * len(counts)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("development", type=Path)
    parser.add_argument("unseen", type=Path)
    parser.add_argument("--ship", action="store_true", help="write the model file of the package")
    options = parser.parse_args(list(arguments))
    seen, unseen = _rows(options.development), _rows(options.unseen)
    text = page(seen, unseen)
    PAGE.write_text(text)
    print(text)
    if options.ship:
        ship(seen)


def page(seen: Rows, unseen: Rows) -> str:
    """Return the page: errors with and without the correction."""
    left_out = np.zeros_like(seen.y)
    for program in sorted(set(seen.programs)):
        out = np.array([p == program for p in seen.programs])
        left_out[out] = _fit(seen, ~out).predict(seen.x[out])
    by_gpu = np.zeros_like(seen.y)
    for gpu in sorted(set(seen.gpus)):
        out = np.array([g == gpu for g in seen.gpus])
        by_gpu[out] = _fit(seen, ~out).predict(seen.x[out])
    moved = _fit(seen, np.ones(len(seen.y), bool)).predict(unseen.x)
    rows = [
        *_lines("development data, one program left out", seen, left_out),
        *_lines("development data, one GPU left out (programs known)", seen, by_gpu),
        *_lines("unseen programs (nothing of them in training)", unseen, moved),
    ]
    return "\n".join([*_head(seen, unseen), *rows, ""])


def ship(seen: Rows) -> None:
    """Write the model trained on all development rows."""
    estimator = _fit(seen, np.ones(len(seen.y), bool))
    none, one = np.zeros(len(NAMES)), np.ones(len(NAMES))
    model = {
        **sections(NAMES, "log(measured / predicted)", "", logarithmic=False),
        "scaling": scaling_section(none, one, seen.x.min(axis=0), seen.x.max(axis=0)),
        "estimator": estimator_section(estimator),
    }
    card = {
        "model": {"name": "gradient boosting", "hyper-parameters": SETTINGS, "seed": SEED},
        "data": {
            "rows": len(seen.y),
            "programs": sorted(set(seen.programs)),
            "gpus": sorted(set(seen.gpus)),
            "source": "docs/validation/time_models.md",
        },
        "split": "docs/validation/residual.md says what it adds to programs and GPUs that were left out",
        "limits": ["Only launches of the kind trained on: see the ranges of the features."],
        "versions": {"warpwatt": __version__},
    }
    write(SHIPPED, card, model)


def _rows(dump: Path) -> Rows:
    compared: list[Compared] = pickle.loads(dump.read_bytes())
    name = Pipeline.name
    kept = [
        c for c in compared
        if c.measured.data != THESIS and name in c.answers and len(c.answers[name].features) == len(NAMES)
    ]  # fmt: skip
    return Rows(
        np.array([c.answers[name].features for c in kept]),
        np.array([-c.log_ratio(name) for c in kept]),
        tuple(c.measured.program for c in kept),
        tuple(c.measured.gpu for c in kept),
    )


def _fit(rows: Rows, chosen: npt.NDArray[np.bool_]) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    estimator = GradientBoostingRegressor(random_state=SEED, **SETTINGS)
    return estimator.fit(rows.x[chosen], rows.y[chosen], sample_weight=rows.weights[chosen])


def _lines(data: str, rows: Rows, correction: Floats) -> list[str]:
    """Return a table row without and one with the correction."""
    found = []
    for name, log_ratio in (("pipeline", -rows.y), ("pipeline+residual", correction - rows.y)):
        size = np.abs(np.expm1(log_ratio)) * 100
        by_program = [
            float(np.mean(size[[p == program for p in rows.programs]])) for program in set(rows.programs)
        ]
        figures = (
            f"{len(size)} | {len(by_program)} | {size.mean():.1f} | {np.median(size):.1f} | "
            f"{np.quantile(size, 0.9):.1f} | {np.mean(by_program):.1f} | {np.mean(size <= 10):.0%} | "
            f"{np.median(np.expm1(log_ratio)) * 100:+.1f}"
        )
        found.append(f"| {data} | {name} | {figures} |")
    return found


def _head(seen: Rows, unseen: Rows) -> list[str]:
    made = stamp()
    settings = ", ".join(f"{name} {value}" for name, value in SETTINGS.items())
    return [
        "# Residual learner on top of the pipeline model",
        "",
        "Written by `python -m validation.timing.residual`; do not edit.",
        f"On {made['date']} at commit {made['commit']}.",
        "",
        f"Gradient boosting ({settings}; seed {SEED}; every program weighing the same)",
        "on log(measured / predicted) over busy shares, stall shares, duration, waves and warps. Trained on",
        f"{len(seen.y)} rows of `time_models.md` ({len(set(seen.programs))} programs).",
        f"The {len(unseen.y)} rows of `time_unseen.md` ({len(set(unseen.programs))} programs)",
        "were in no training.",
        "Errors in percent; *by program*: mean over programs of their mean error.",
        "",
        "| data | model | rows | programs | mean | median | p90 | by program | ≤10 % | bias |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
