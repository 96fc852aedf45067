"""Random kernels predicted and checked: one source file of several kernels per GPU, compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import warpwatt
from tests.properties.kernels import Launch, draw, permuted
from tests.properties.relations import PROPERTIES
from warpwatt.core.prediction import Prediction
from warpwatt.models.conservation import violations

GPUS = ("h200", "a100-sxm4-40gb", "rtx3080", "rtx4090", "t4", "b200")
TOGETHER = 8
"""Kernels of one file."""
CONSERVATION = "bytes, rates, power and widths are conserved"


@dataclass(frozen=True)
class Failure:
    """A property that does not hold."""

    property: str
    seed: int
    gpu: str
    text: str


def check(seeds: range) -> Iterator[tuple[str, Failure | None]]:
    """Yield each property checked of each kernel, and how it fails if it does."""
    for first in range(seeds.start, seeds.stop, TOGETHER):
        some = range(first, min(first + TOGETHER, seeds.stop))
        gpu = GPUS[first // TOGETHER % len(GPUS)]
        source = "".join(text for seed in some for text in _sources(draw(seed)))
        for seed in some:
            yield from _checked(source, seed, gpu)


def _said(launch: Launch) -> str:
    size = f"{launch.grid} x {launch.block}, {launch.trips} trips, period {launch.period}, off {launch.off}"
    return f"{launch.name} ({', '.join(launch.statements)}; {launch.store}) {size}"


def _sources(launch: Launch) -> tuple[str, ...]:
    """Return the kernel, the same with other names, and with parameters in another order."""
    named = replace(launch, name=f"{launch.name}r", prefix="arg_")
    return launch.source, named.source, permuted(launch, launch.grid).source


def _predict(source: str, launch: Launch, gpu: str) -> Prediction:
    found = warpwatt.predict(
        source, kernel=launch.name, gpu=gpu, grid=launch.grid, block=launch.block, args=launch.arguments
    )
    assert isinstance(found, Prediction)
    return found


def _checked(source: str, seed: int, gpu: str) -> Iterator[tuple[str, Failure | None]]:
    launch = draw(seed)
    base = _predict(source, launch, gpu)
    broken = violations(base.case, base.timing, base.power)
    text = "; ".join(violation.text for violation in broken)
    yield CONSERVATION, Failure(CONSERVATION, seed, gpu, text) if broken else None
    for name, variants in PROPERTIES.items():
        worst = ""
        for variant in variants(launch, base.time):
            time = _predict(source, variant.launch, gpu).time.value
            if not variant.least <= time <= variant.most:
                worst = f"{_said(launch)} {base.time.value:.4g} s; {_said(variant.launch)} {time:.4g} s"
        yield name, Failure(name, seed, gpu, worst) if worst else None
