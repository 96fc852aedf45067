"""What was predicted when somebody said it was good: the file that relative limits refer to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.budget.quantities import QUANTITIES
from warpwatt.core.errors import InputError, OutputExistsError
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import Prediction
from warpwatt.core.version import __version__

if TYPE_CHECKING:
    from warpwatt.budget.budgets import Budget

KIND = "warpwatt baseline"
VERSION = 1

Recorded = dict[str, tuple[float, float, float]]
"""Quantity to value, low and high."""


def identity(budget: Budget, prediction: Prediction) -> str:
    """Return what a prediction is found by: source, kernel, launch, GPU and options, but not its code."""
    launch, compilation, modelling = budget.launch, budget.compilation, budget.modelling
    kernel, case = prediction.case.kernel, prediction.case
    words = [
        budget.source.name,
        kernel.display_name,
        case.gpu.name,
        f"grid {case.launch.grid}",
        f"block {case.launch.block}",
        *launch.arg,
        *(f"-D{define}" for define in compilation.define),
        compilation.toolkit,
        "" if compilation.maxrregcount is None else f"maxrregcount {compilation.maxrregcount}",
        *modelling.model,
        "" if modelling.clock is None else f"clock {modelling.clock}",
    ]
    return "; ".join(filter(None, words))


def write(path: Path, entries: Iterable[tuple[str, Prediction]]) -> None:
    """Write a baseline; the file appears whole or not at all.

    Raises
    ------
    OutputExistsError
        If there is a file of that name that is no baseline.
    """
    if path.exists() and _kind(path) != KIND:
        raise OutputExistsError("a file that is no baseline", file=path, hint="name another file as baseline")
    document = {
        "kind": KIND,
        "version": VERSION,
        "tool": __version__,
        "predictions": {name: _values(prediction) for name, prediction in entries},
    }
    scratch = path.with_name(f"{path.name}.writing")
    scratch.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    scratch.replace(path)


def read(path: Path) -> Mapping[str, Recorded]:
    """Return what a baseline holds: identity to values.

    Raises
    ------
    InputError
        If it is not there or is no baseline.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        kind, version = document["kind"], document["version"]
        found = {
            name: {key: _triple(value) for key, value in values.items()}
            for name, values in document["predictions"].items()
        }
    except FileNotFoundError:
        hint = "`warpwatt check --record BUDGET.toml` writes it"
        raise InputError("no baseline yet", file=path, hint=hint) from None
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=path) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        kind, version, found = None, None, {}
    if (kind, version) != (KIND, VERSION):
        hint = "write it anew with `warpwatt check --record BUDGET.toml`"
        raise InputError("not a baseline of this version", file=path, hint=hint)
    return found


def _triple(value: Any) -> tuple[float, float, float]:
    first, second, third = (float(number) for number in value)
    return first, second, third


def _values(prediction: Prediction) -> dict[str, list[float]]:
    found = {name: quantity.read(prediction) for name, quantity in QUANTITIES.items()}
    return {name: _rounded(estimate) for name, estimate in found.items() if estimate is not None}


def _rounded(estimate: Estimate) -> list[float]:
    """Keep six digits: two machines need not agree on more, and a diff of the file says something."""
    return [float(f"{value:.6g}") for value in (estimate.value, estimate.low, estimate.high)]


def _kind(path: Path) -> object:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return document.get("kind") if isinstance(document, dict) else None
