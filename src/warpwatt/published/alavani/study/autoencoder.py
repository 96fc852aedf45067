"""A variational autoencoder that reduces features to a few latent ones (thesis 5.7.1: 15), in PyTorch.

The thesis prints the number of latent features only. Here: one hidden layer of 32 on either side, Adam at
0.001, squared error plus the divergence from a standard normal distribution, 100 passes; the latent means are
the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import need

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Floats

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
        torch = need("torch")
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
        torch = need("torch")
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
