"""Predicted launches of kernels with a trouble each: validation/explanations/kernels/."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.compose import advised, predict
from warpwatt.core.program import Level
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find
from warpwatt.request.directives import read_directives

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction

KERNELS = Path(__file__).parents[2] / "validation" / "explanations" / "kernels"
OPTIONS = CompileOptions(levels=frozenset({Level.SASS}))


@lru_cache
def predicted(name: str, kernel: str = "before", gpu: str = "a100") -> Prediction:
    """Return the prediction of ``before`` or ``after`` in a file."""
    source = read_source(str(KERNELS / f"{name}.cu"))
    text = next(t for t in read_directives(source.data.decode(), source.name) if t.kernel == kernel)
    board = find(gpu)
    return predict(load_kernel(source, board.target, OPTIONS, kernel), text.read().launch, board)


@lru_cache
def explained(name: str, gpu: str = "a100") -> Prediction:
    """Return the prediction of ``before`` with advice."""
    return advised(predicted(name, "before", gpu))
