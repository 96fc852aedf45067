"""The cross-validations of the power study, each kept in a file so that none is computed twice.

A result's key covers the data's hash, the regressor with its hyper-parameters, the features, the split and
the seed. The page says how many were read from the cache.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.evaluate import SEEDS, Errors, Evaluation, Run, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from warpwatt.lab.learn.evaluate import Split
    from warpwatt.lab.learn.regressors import Regressor
    from warpwatt.lab.learn.samples import Samples


@dataclass(slots=True)
class Runs:
    """Cross-validations, computed or read from ``folder`` (none: always computed)."""

    folder: Path | None = None
    computed: int = 0
    read: int = 0
    say: Callable[[str], None] = field(default=lambda _: None)

    def __call__(
        self,
        samples: Samples,
        regressor: Regressor,
        split: Split,
        seeds: Sequence[int] = SEEDS,
        *,
        logarithmic: bool = False,
    ) -> Evaluation:
        """Return a regressor's cross-validation, seed by seed."""
        found = [self._one(samples, regressor, split, seed, logarithmic) for seed in seeds]
        return Evaluation(regressor, split, tuple(found))

    def keep(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return any other result that JSON can hold, computed once."""
        file = self.folder / f"{digest(key)}.json" if self.folder else None
        if file is not None and file.exists():
            self.read += 1
            return json.loads(file.read_text(encoding="utf-8"))
        self.say(key[:100])
        result = compute()
        self.computed += 1
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(result), encoding="utf-8")
        return result

    def _one(self, samples: Samples, regressor: Regressor, split: Split, seed: int, logarithmic: bool) -> Run:
        settings = {**regressor.parameters, "scaling": regressor.scaling, "log": logarithmic}
        told = [regressor.name, str(split), seed, samples.target, settings, samples.features]
        key = json.dumps([*told, samples.name, _hash(samples)], default=str)

        def compute() -> dict[str, Any]:
            run = evaluate(samples, regressor, split, seeds=(seed,), logarithmic=logarithmic).runs[0]
            return {**asdict(run), "predicted": run.predicted.tolist()}

        return _run(self.keep(key, compute))


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _hash(samples: Samples) -> str:
    """Return a hash of everything that is learned from."""
    content = samples.x.tobytes() + samples.y.tobytes() + "\0".join(samples.programs).encode()
    return hashlib.sha256(content).hexdigest()[:24]


def _run(kept: dict[str, Any]) -> Run:
    return Run(
        seed=kept["seed"],
        per_fold=tuple(Errors(**each) for each in kept["per_fold"]),
        pooled=Errors(**kept["pooled"]),
        predicted=np.array(kept["predicted"]),
        train_s=kept["train_s"],
    )
