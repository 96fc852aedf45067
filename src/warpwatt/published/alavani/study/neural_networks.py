"""The study of neural networks: every row of thesis Table 5.6, with loss curves (``neural_networks.toml``).

Features may be reduced to a few latent ones by a variational autoencoder (thesis 5.7.1: 15), in PyTorch. The
thesis prints the number of latent features only. Here: one hidden layer of 32 on either side, Adam at 0.001,
squared error plus the divergence from a standard normal distribution, 100 passes; the latent means are the
features.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import import_optional
from warpwatt.lab.learn.evaluate import Errors, Split, make_folds
from warpwatt.lab.learn.regressors import min_max
from warpwatt.published.alavani.study.network import Network

if TYPE_CHECKING:
    from warpwatt.lab.learn.evaluate import Fold, Progress
    from warpwatt.lab.learn.samples import Floats, Samples

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
        return Errors.mean(self.per_fold)


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
    for part in make_folds(samples, Split.ROWS, seed):
        network = Network(**row.network, epochs=row.epochs[size], standardise=True, random_state=seed)
        train, test = _features(row, samples, part, seed)
        network.fit(train, samples.y[part.train], test, samples.y[part.test])
        found.append(Errors.of(samples.y[part.test], network.predict(test)))
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


HIDDEN = 32
BATCH = 32


@dataclass(slots=True)
class Autoencoder:
    """Latent features of scaled rows: ``fit`` on training rows, then call.

    Parameters
    ----------
    latent, epochs, random_state
        Number of latent features, passes over the rows, seed.
    """

    latent: int = 15
    epochs: int = 100
    random_state: int = 0
    _encoder: Any = None

    def fit(self, x: Floats) -> Autoencoder:
        """Train on scaled features of shape (rows, features)."""
        torch = import_optional("torch")
        torch.manual_seed(self.random_state)
        torch.set_num_threads(1)
        nn, width = torch.nn, x.shape[1]
        encoder = nn.Sequential(nn.Linear(width, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2 * self.latent))
        decoder = nn.Sequential(nn.Linear(self.latent, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, width))
        optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.001)
        rows = torch.tensor(x, dtype=torch.float32)
        for _ in range(self.epochs):
            for batch in torch.randperm(len(rows)).split(BATCH):
                optimiser.zero_grad()
                _loss(torch, encoder, decoder, rows[batch]).backward()
                optimiser.step()
        self._encoder = encoder
        return self

    def __call__(self, x: Floats) -> Floats:
        """Return the latent means, shape (rows, latent)."""
        torch = import_optional("torch")
        with torch.no_grad():
            found = self._encoder(torch.tensor(x, dtype=torch.float32)).numpy()
        return np.asarray(found[:, : self.latent], dtype=np.float64)


def _loss(torch: Any, encoder: Any, decoder: Any, rows: Any) -> Any:
    """Return squared error of the reconstruction plus the Kullback-Leibler divergence, per row."""
    mean, logarithm = encoder(rows).chunk(2, dim=1)
    drawn = mean + torch.exp(logarithm / 2) * torch.randn_like(mean)
    error = ((decoder(drawn) - rows) ** 2).sum(dim=1)
    divergence = 0.5 * (torch.exp(logarithm) + mean**2 - 1 - logarithm).sum(dim=1)
    return (error + divergence).mean()
