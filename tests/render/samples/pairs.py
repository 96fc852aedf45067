"""Both kernels on both boards, and an application of one of them."""

from __future__ import annotations

from tests.render.samples.boards import a100, h200
from tests.render.samples.matmul import matmul
from tests.render.samples.saxpy import saxpy
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import ApplicationPrediction, Prediction, Step


def saxpy_pair() -> list[Prediction]:
    return [saxpy(h200(), 50.1e-6, 486.0, 0.82), saxpy(a100(), 149e-6, 251.0, 0.87)]


def matmul_pair() -> list[Prediction]:
    return [matmul(h200(), 2.31e-3, 672.0, capped=False), matmul(a100(), 5.72e-3, 399.0, capped=True)]


def application() -> ApplicationPrediction:
    product = matmul_pair()[0]

    def exact(value: float, unit: str) -> Estimate:
        return Estimate.spread(value, {"pcie": 0.1}, unit)

    steps = (
        Step("upload a", "copy", "default", 1, 0.0, exact(0.35e-3, "s"), exact(0.04, "J")),
        Step("upload b", "copy", "copies", 1, 0.0, exact(0.35e-3, "s"), exact(0.04, "J")),
        Step(
            "product",
            "kernel",
            "default",
            10,
            0.35e-3,
            product.time.scaled(10.0),
            product.energy.scaled(10.0),
            product,
        ),
        Step("download c", "copy", "default", 1, 24.45e-3, exact(0.4e-3, "s"), exact(0.05, "J")),
    )
    return ApplicationPrediction(
        "train step",
        "NVIDIA H200",
        steps,
        exact(24.85e-3, "s"),
        exact(15.7, "J"),
        exact(1.0e-3, "s"),
        exact(0.07, "J"),
        ("pageable host memory: copies are slower",),
    )
