"""The neural networks of the study (thesis 5.7.1, Table 5.6) in PyTorch, an optional extra.

The thesis used Keras and prints widths, epochs and one number per schedule. What it does not print
follows Keras's defaults: Adam, Glorot-uniform weights, zero biases, batches of 32, mean squared error.
The printed 0.9 and 0.5 are read as decay factors, from the rate of the constant rows, 0.01: by 0.9 every
10,000 steps, as in Keras's documentation, and in inverse time by 0.5 every 1,000. Dropout and weight
decay are said to be used, without values: both are arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.lab.learn.errors import import_optional

if TYPE_CHECKING:
    import numpy.typing as npt

    from warpwatt.lab.learn.samples import Floats

    Layer = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]

BATCH = 32
"""Rows per step: Keras's default."""


def schedule(name: str, rate: float, decay: float, decay_steps: float) -> Callable[[int], float]:
    """Return the learning rate by step: ``constant``, ``exponential`` or ``inverse time``.

    With t = step / decay_steps: exponential ``rate · decay^t``, inverse time ``rate / (1 + decay · t)``.

    Raises
    ------
    ValueError
        If there is no schedule of that name.

    >>> [round(schedule("inverse time", 0.1, 0.5, 1)(step), 4) for step in (0, 2)]
    [0.1, 0.05]
    """
    schedules: dict[str, Callable[[int], float]] = {
        "constant": lambda _: rate,
        "exponential": lambda step: rate * decay ** (step / decay_steps),
        "inverse time": lambda step: rate / (1.0 + decay * step / decay_steps),
    }
    if name not in schedules:
        raise ValueError(f"no schedule {name!r}: {', '.join(schedules)}")
    return schedules[name]


@dataclass(slots=True)
class Network:
    """A dense network with rectifiers for regression, with ``fit`` and ``predict``.

    Parameters
    ----------
    widths
        Neurons of the hidden layers.
    epochs, rate, falls, decay, decay_steps
        Passes over the rows; learning rate and how it falls (see :func:`schedule`).
    dropout, weight_decay
        Share of neurons silenced in training after each hidden layer; L2 penalty.
    standardise
        Learn the target with zero mean and unit variance; the thesis does not say that it did.
    random_state
        Seed of weights, batches and dropout.
    """

    widths: Sequence[int] = (64, 64, 128)
    epochs: int = 150
    rate: float = 0.01
    falls: str = "constant"
    decay: float = 0.0
    decay_steps: float = 1.0
    dropout: float = 0.0
    weight_decay: float = 0.0
    standardise: bool = False
    random_state: int = 0
    offset: float = 0.0
    scale: float = 1.0
    losses: list[tuple[float, float]] = field(default_factory=list)
    _net: Any = None

    def fit(
        self, x: Floats, y: Floats, x_test: Floats | None = None, y_test: Floats | None = None
    ) -> Network:
        """Train on scaled features of shape (rows, features) and a target in its own unit.

        ``losses`` then holds, for every epoch, the mean squared error on the training and on the test rows
        (NaN where there are none).
        """
        torch = import_optional("torch")
        torch.manual_seed(self.random_state)
        torch.set_num_threads(1)
        self.offset, self.scale = (float(y.mean()), float(y.std()) or 1.0) if self.standardise else (0.0, 1.0)
        rows, wanted = _tensor(torch, x), _tensor(torch, (y - self.offset) / self.scale)
        self._net = _build(torch, [x.shape[1], *self.widths, 1], self.dropout)
        optimiser = torch.optim.Adam(
            self._net.parameters(), lr=self.rate, eps=1e-7, weight_decay=self.weight_decay
        )
        rate_at = schedule(self.falls, self.rate, self.decay, self.decay_steps)
        self.losses = []
        step = 0
        for _ in range(self.epochs):
            step = self._epoch(torch, optimiser, rows, wanted, rate_at, step)
            self.losses.append((self._loss(x, y), self._loss(x_test, y_test)))
        return self

    def _epoch(
        self, torch: Any, optimiser: Any, rows: Any, wanted: Any, rate_at: Callable[[int], float], step: int
    ) -> int:
        """Pass over all rows in random batches; return the number of steps made so far."""
        self._net.train()
        for batch in torch.randperm(len(rows)).split(BATCH):
            optimiser.param_groups[0]["lr"] = rate_at(step)
            step += 1
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(self._net(rows[batch])[:, 0], wanted[batch])
            loss.backward()
            optimiser.step()
        return step

    def predict(self, x: Floats) -> Floats:
        """Return predictions of shape (rows,) in the target's unit."""
        torch = import_optional("torch")
        self._net.eval()
        with torch.no_grad():
            found = self._net(_tensor(torch, x))[:, 0].numpy()
        return np.asarray(found * self.scale + self.offset, dtype=np.float64)

    def layers(self) -> list[Layer]:
        """Return weights of shape (outputs, inputs) and biases of every dense layer."""
        return [
            (each.weight.detach().numpy(), each.bias.detach().numpy())
            for each in self._net
            if hasattr(each, "weight")
        ]

    def _loss(self, x: Floats | None, y: Floats | None) -> float:
        if x is None or y is None:
            return math.nan
        return float(np.mean((self.predict(x) - y) ** 2))


def _build(torch: Any, widths: Sequence[int], dropout: float) -> Any:
    """Return dense layers with rectifiers and dropout between them."""
    nn = torch.nn
    layers: list[Any] = []
    for i, (inputs, outputs) in enumerate(pairwise(widths)):
        dense = nn.Linear(inputs, outputs)
        nn.init.xavier_uniform_(dense.weight)
        nn.init.zeros_(dense.bias)
        layers.append(dense)
        if i < len(widths) - 2:
            layers += [nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers)


def _tensor(torch: Any, array: Floats) -> Any:
    return torch.tensor(array, dtype=torch.float32)
