"""Models by name. Built-in models are listed here; other packages add theirs through entry points.

An entry point of group ``warpwatt.time_models`` or ``warpwatt.power_models`` names a class or factory
without arguments that returns a :class:`TimeModel` or :class:`PowerModel`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import cast

from warpwatt.core.case import PowerModel, TimeModel
from warpwatt.core.errors import UsageError

TIME_GROUP = "warpwatt.time_models"
POWER_GROUP = "warpwatt.power_models"

DEFAULT_TIME = "pipeline"
"""The best of the built-in models on programs no rate was fitted to: see docs/validation/time_models.md."""
DEFAULT_POWER = "component"

_TIME: Mapping[str, str] = {
    "alavani-ilp-tlp": "warpwatt.published.alavani.ilp_tlp_model:AlavaniIlpTlp",
    "alavani-reservation": "warpwatt.published.alavani.reservation_model:AlavaniReservation",
    "boughzala": "warpwatt.published.boughzala.time_model:Boughzala",
    "boughzala-resident": "warpwatt.published.boughzala.time_model:BoughzalaResident",
    "boughzala-rounds": "warpwatt.published.boughzala.time_model:BoughzalaRounds",
    "pipeline": "warpwatt.models.pipeline:Pipeline",
    "pipeline+residual": "warpwatt.models.residual:PipelineResidual",
    "resios": "warpwatt.published.resios.model:Resios",
    "roofline": "warpwatt.models.roofline:Roofline",
    "roofline-fitted": "warpwatt.published.alavani.rooflines:RooflineFitted",
    "roofline-vendor": "warpwatt.published.alavani.rooflines:RooflineVendor",
    "volkov": "warpwatt.published.volkov.model:Volkov",
    "wang-chu": "warpwatt.published.wang_chu:WangChu",
}
_POWER: Mapping[str, str] = {
    "alavani": "warpwatt.published.alavani.power:AlavaniPower",
    "boughzala": "warpwatt.published.boughzala.power_model:Boughzala",
    "boughzala-resident": "warpwatt.published.boughzala.power_model:BoughzalaResident",
    "boughzala-rounds": "warpwatt.published.boughzala.power_model:BoughzalaRounds",
    "component": "warpwatt.models.component:Component",
    "component+learned": "warpwatt.models.learned:ComponentLearned",
    "specification": "warpwatt.models.specification:Specification",
}


def time_model(name: str = DEFAULT_TIME) -> TimeModel:
    """Return the time model of that name, or in that file of ``warpwatt train``.

    Raises
    ------
    UsageError
        If there is none, with the nearest names.
    ModelFileError
        If the file cannot be read or is no model of time.
    """
    if is_model_file(name):
        from warpwatt.models.trained.model import TrainedTime

        return TrainedTime(Path(name))
    return _time_model(name)


def power_model(name: str = DEFAULT_POWER) -> PowerModel:
    """Return the power model of that name or file; raise as :func:`time_model`."""
    if is_model_file(name):
        from warpwatt.models.trained.model import TrainedPower

        return TrainedPower(Path(name))
    return _power_model(name)


def names_model_file(choice: str) -> bool:
    """Return whether a text of :func:`split_choice` names a file.

    >>> names_model_file("power=../model.json"), names_model_file("power=component")
    (True, False)
    """
    return is_model_file(choice.partition("=")[2] or choice)


def is_model_file(name: str) -> bool:
    """Return whether a model is named by its file.

    >>> is_model_file("model.json"), is_model_file("./mine"), is_model_file("roofline")
    (True, True, False)
    """
    return name.endswith(".json") or os.sep in name


@lru_cache
def _time_model(name: str) -> TimeModel:
    return cast("TimeModel", _make(name, _TIME, TIME_GROUP, "time"))


@lru_cache
def _power_model(name: str) -> PowerModel:
    return cast("PowerModel", _make(name, _POWER, POWER_GROUP, "power"))


def time_models() -> tuple[str, ...]:
    """Return the names of all time models, built-in ones first."""
    return tuple(_TIME) + tuple(sorted(_plugins(TIME_GROUP)))


def power_models() -> tuple[str, ...]:
    """Return the names of all power models, built-in ones first."""
    return tuple(_POWER) + tuple(sorted(_plugins(POWER_GROUP)))


def split_choice(text: str) -> tuple[str | None, str | None]:
    """Read ``[time=|power=]NAME`` and return (time model, power model), None where not named.

    A name without its kind means both where there are both, a file what it was trained for. A model of energy
    stands in for one of power.

    >>> split_choice("roofline"), split_choice("power=specification"), split_choice("boughzala")
    (('roofline', None), (None, 'specification'), ('boughzala', 'boughzala'))
    """
    kind, equals, name = text.partition("=")
    if not equals and is_model_file(text):
        from warpwatt.models.trained.model import opened

        return (text, None) if opened(Path(text)).target == "time" else (None, text)
    if not equals:
        power = text if text in _POWER else None
        return None if power and text not in _TIME else text, power
    if kind == "time":
        return name, None
    if kind == "power" or (kind == "energy" and is_model_file(name)):
        return None, name
    raise UsageError(f"not a model choice: {text!r}", hint="write --model NAME, time=NAME or power=NAME")


def _make(name: str, builtin: Mapping[str, str], group: str, kind: str) -> object:
    path = builtin.get(name)
    if path is not None:
        module, _, attribute = path.partition(":")
        return getattr(import_module(module), attribute)()
    plugins = _plugins(group)
    if name in plugins:
        return plugins[name]()
    known = [*builtin, *plugins]
    import difflib  # only where somebody has mistyped a name

    near = difflib.get_close_matches(name, known) or known
    raise UsageError(f"no {kind} model {name!r}", hint="models: " + ", ".join(near))


def _plugins(group: str) -> Mapping[str, type]:
    from importlib.metadata import entry_points

    return {point.name: point.load() for point in entry_points(group=group)}
