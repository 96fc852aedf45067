"""The file of a trained model: JSON with a version, a checksum, a card and the model. Never code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.models.trained.packed import ModelFileError, pack, unpack
from warpwatt.models.trained.predictors import predictor

if TYPE_CHECKING:
    from warpwatt.models.trained.predictors import Floats, Predictor

FORMAT = "warpwatt trained model"
VERSION = 1
"""Version of the format; files of another are refused."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A trained model: the names of its features in order, what it predicts, and its card.

    ``low`` and ``high`` are the features' range in training; ``estimator`` is the file's own description of
    what ``predictor`` computes.
    """

    features: tuple[str, ...]
    target: str
    unit: str
    card: Mapping[str, Any]
    low: Floats
    high: Floats
    offset: Floats
    width: Floats
    logarithmic: bool
    predictor: Predictor
    estimator: Mapping[str, Any]

    def predict(self, x: Floats) -> Floats:
        """Return predictions of shape (rows,) in ``unit`` for features of shape (rows, features).

        Raises
        ------
        ValueError
            If there are not as many columns as features.
        """
        if x.ndim != 2 or x.shape[1] != len(self.features):
            raise ValueError(f"features of shape (rows, {len(self.features)}) are needed, not {x.shape}")
        found = self.predictor((x - self.offset) / self.width)
        return np.exp(found) if self.logarithmic else found

    def outside(self, x: Floats) -> tuple[str, ...]:
        """Return the features that leave the range of training in some row: there it extrapolates."""
        outside = np.any((x < self.low) | (x > self.high), axis=0)
        return tuple(name for i, name in enumerate(self.features) if outside[i])


def write(path: Path, card: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Write a model's file: the same card and model give the same bytes."""
    content = {"card": card, "model": model}
    whole = {"format": FORMAT, "version": VERSION, "checksum": _checksum(content), **content}
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> TrainedModel:
    """Return a trained model.

    Raises
    ------
    ModelFileError
        If the file is none, of another version, damaged, or not what its checksum says.
    ToolchainError
        If it needs a booster that is not installed.
    """
    content = _content(path)
    try:
        return _model(content["card"], content["model"])
    except ModelFileError as error:
        raise ModelFileError(error.message, file=path, hint=error.hint) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        message = f"not a complete model: {type(error).__name__} {error}"
        raise ModelFileError(message, file=path, hint="train it again") from error


def sections(features: tuple[str, ...], target: str, unit: str, *, logarithmic: bool) -> dict[str, Any]:
    """Return the entries of a model's JSON that say what goes in and what comes out."""
    return {"features": list(features), "target": target, "unit": unit, "logarithmic": logarithmic}


def scaling_section(offset: Floats, width: Floats, low: Floats, high: Floats) -> dict[str, Any]:
    """Return the entries of a model's JSON that hold its scaling and the range of training."""
    return {"offset": pack(offset), "width": pack(width), "low": pack(low), "high": pack(high)}


def _content(path: Path) -> Mapping[str, Any]:
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror}", file=path) from error
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"not a model file: {error}", file=path) from error
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        hint = "warpwatt train DATA -o MODEL.json writes one"
        raise ModelFileError("not a model file: it does not say that it is one", file=path, hint=hint)
    if whole.get("version") != VERSION:
        message = f"a model file of version {whole.get('version')!r}; this WarpWatt reads version {VERSION}"
        raise ModelFileError(message, file=path, hint="train it again with this version")
    content = {"card": whole.get("card"), "model": whole.get("model")}
    if whole.get("checksum") != _checksum(content):
        message = "its content is not what its checksum says: damaged or tampered with"
        raise ModelFileError(message, file=path, hint="train it again, or get the original file")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(f"{FORMAT} {VERSION} {canonical}".encode()).hexdigest()


def _model(card: Mapping[str, Any], model: Mapping[str, Any]) -> TrainedModel:
    if not isinstance(card, dict) or not isinstance(card.get("data", {}), dict):
        raise ModelFileError("its card is no table")
    features = tuple(str(name) for name in model["features"])
    arrays = {name: unpack(model["scaling"][name]) for name in ("offset", "width", "low", "high")}
    if any(array.shape != (len(features),) for array in arrays.values()) or not np.all(arrays["width"] > 0):
        raise ModelFileError("its scaling does not fit its features")
    return TrainedModel(
        features=features,
        target=str(model["target"]),
        unit=str(model["unit"]),
        card=card,
        **arrays,
        logarithmic=bool(model["logarithmic"]),
        predictor=predictor(model["estimator"], len(features)),
        estimator=model["estimator"],
    )
