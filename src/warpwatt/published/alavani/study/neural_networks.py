"""The study of neural networks: every row of thesis Table 5.6, with loss curves (``ann_study.toml``)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn import metrics
from warpwatt.lab.learn.scaling import min_max
from warpwatt.lab.learn.splits import Split, folds
from warpwatt.published.alavani.study.autoencoder import Autoencoder
from warpwatt.published.alavani.study.network import Network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.lab.learn.evaluate import Progress
    from warpwatt.lab.learn.metrics import Errors
    from warpwatt.lab.learn.samples import Floats, Samples
    from warpwatt.lab.learn.splits import Fold

SIZES = ("smaller", "larger")
"""The two K20 data sets of the study, in the order of the table's columns."""
LATENT = 15


@dataclass(frozen=True, slots=True)
class AnnRow:
    """One row of Table 5.6: ``epochs`` and ``published`` R² by data set (empty where not printed)."""

    title: str
    features: str
    network: Mapping[str, Any]
    epochs: Mapping[str, int]
    published: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AnnResult:
    """Errors of each fold, and the mean over folds of the losses by epoch (W², training and held-out)."""

    per_fold: tuple[Errors, ...]
    losses: tuple[tuple[float, float], ...]

    @property
    def mean(self) -> Errors:
        """Return the mean over folds."""
        return metrics.mean(self.per_fold)


@lru_cache(maxsize=1)
def ann_rows() -> tuple[AnnRow, ...]:
    """Return the rows of the study."""
    data = tomllib.loads(
        (files("warpwatt.published.alavani.study") / "neural_networks.toml").read_text(encoding="utf-8")
    )
    return tuple(
        AnnRow(
            row["title"],
            row["features"],
            row["network"],
            dict(zip(SIZES, row["epochs"], strict=True)),
            dict(zip(SIZES, row["published"], strict=False)),
        )
        for row in data["row"]
    )


def run(
    row: AnnRow, samples: Samples, size: str, seed: int = 0, progress: Progress = lambda _: None
) -> AnnResult:
    """Return a row's cross-validation by row on samples with the features that it names.

    Raises
    ------
    MissingPackageError
        If PyTorch is not installed.
    """
    found, curves = [], []
    for part in folds(samples, Split.ROWS, seed):
        network = Network(**row.network, epochs=row.epochs[size], standardise=True, random_state=seed)
        train, test = _features(row, samples, part, seed)
        network.fit(train, samples.y[part.train], test, samples.y[part.test])
        found.append(metrics.errors(samples.y[part.test], network.predict(test)))
        curves.append(network.losses)
        progress(row.title)
    means = np.mean(np.array(curves), axis=0)
    return AnnResult(tuple(found), tuple((float(a), float(b)) for a, b in means))


def _features(row: AnnRow, samples: Samples, part: Fold, seed: int) -> tuple[Floats, Floats]:
    """Return scaled features of the training and held-out rows, latent ones where the row wants them."""
    scaling = min_max(samples.x[part.train])
    train, test = scaling(samples.x[part.train]), scaling(samples.x[part.test])
    if row.features != "vae":
        return train, test
    encoder = Autoencoder(LATENT, random_state=seed).fit(train)
    return encoder(train), encoder(test)
