"""What ``warpwatt tune`` searches: the space of a kernel, and layers of a mixture of experts."""

from __future__ import annotations

import itertools
import json
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.choose import mixture
from warpwatt.choose.rank import objective_value
from warpwatt.choose.rough import rough_seconds
from warpwatt.choose.tuning import Config, Found, Journal, search
from warpwatt.core.errors import InputError, UsageError
from warpwatt.core.objective import Objective
from warpwatt.core.ranking import not_followed
from warpwatt.core.sizes import evaluate
from warpwatt.frontend.configurations import compiler_of
from warpwatt.gpus import find
from warpwatt.request.choices import complete_gpus
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.objects import run_object
from warpwatt.request.python_file import function, tuned_values
from warpwatt.storage.cache import digest
from warpwatt.storage.inputs import package_digest

if TYPE_CHECKING:
    from warpwatt.choose.mixture import Experts
    from warpwatt.core.estimate import Estimate
    from warpwatt.core.prediction import Prediction
    from warpwatt.request.session import Session

_COMPARISONS = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_COMPARISON = re.compile(r"(<=|>=|==|!=|<|>)")


@dataclass(frozen=True, slots=True)
class Aim:
    """How a search goes: what should be small, how many predictions at most, where they are kept."""

    objective: Objective = Objective.TIME
    budget: int = 24
    journal: Journal | None = None


def read_space(file: Path) -> dict[str, list[object]]:
    """Return the parameters and values of a space, as Kernel Tuner's ``tune_params``: a JSON object of lists.

    Raises
    ------
    InputError
        If it is not that.
    """
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError((error.strerror or str(error)).lower(), file=file) from None
    except ValueError as error:
        raise InputError(f"no JSON: {error}", file=file) from None
    if not isinstance(table, dict) or not all(isinstance(v, list) and v for v in table.values()):
        hint = 'write {"block_size_x": [32, 64], "tile": [1, 2, 4]}'
        raise InputError("no space: an object of lists of values is wanted", file=file, hint=hint)
    return table


def combinations(
    parameters: Mapping[str, Sequence[object]], where: Sequence[str] = (), fixed: Config | None = None
) -> list[Config]:
    """Return all combinations of values for which every comparison holds; these may name what is ``fixed``.

    Raises
    ------
    InputError
        If a comparison cannot be read.

    >>> combinations({"x": [16, 32], "y": [1, 64]}, ["x * y <= 1024"])
    [{'x': 16, 'y': 1}, {'x': 16, 'y': 64}, {'x': 32, 'y': 1}]
    """
    every = [dict(zip(parameters, values, strict=True)) for values in itertools.product(*parameters.values())]
    return [config for config in every if all(_holds(text, {**(fixed or {}), **config}) for text in where)]


def _holds(text: str, config: Config) -> bool:
    """Return whether a chain of comparisons such as ``32 <= x * y <= 1024`` holds."""
    parts = _COMPARISON.split(text)
    if len(parts) < 3:
        raise InputError(f"no comparison: {text!r}", hint="write, for example, 'x * y <= 1024'")
    names = {name: value for name, value in config.items() if isinstance(value, int)}
    sides = [evaluate(part.strip(), names) for part in parts[::2]]
    return all(_COMPARISONS[o](a, b) for a, o, b in zip(sides, parts[1::2], sides[1:], strict=False))


def space_of(session: Session, launch: LaunchText) -> list[Config]:
    """Return the configurations that a Python file's own ``@triton.autotune`` names.

    Raises
    ------
    UsageError
        If there are none.
    """
    source = session.opened()
    found = []
    if source.path is not None and source.path.suffix == ".py":
        found = tuned_values(function(source.path, launch.kernel or ""))
    if not found:
        hint = "name values: -D TILE=8,16,32, or a file: --space tune_params.json"
        raise UsageError("no space: nothing is to be varied", hint=hint)
    return list(found)


def tune_kernel(session: Session, launch: LaunchText, space: Sequence[Config], aim: Aim) -> Found:
    """Search the space of a kernel: each configuration's values are macros, or constants of a function."""
    define = session.compilation.define
    session = replace(session, compiler=compiler_of(min(len(space), aim.budget)))
    about = _about(session, launch, aim)

    def predicted(config: Config) -> tuple[Estimate, str]:
        chosen = tuple(f"{name}={value}" for name, value in config.items())
        asked = replace(session, compilation=replace(session.compilation, define=(*define, *chosen)))
        return _judged(asked.run(launch), aim.objective)

    return search(space, predicted, budget=aim.budget, journal=aim.journal, about=about)


def _about(session: Session, what: object, aim: Aim) -> str:
    """Return what tells a search from others in its journal, after telling the journal what all are of."""
    facts = {
        "WarpWatt": package_digest(native=True),
        "the source": session.source,
        "the options": session.compilation,
        "the models": session.modelling,
        "the GPU": complete_gpus(session.gpus, lambda _: None, session.modelling.power_limit),
    }
    if aim.journal is not None:
        aim.journal.claim({name: digest(repr(fact).encode()) for name, fact in facts.items()})
    return digest(repr((what, aim.objective)).encode())


def tune_experts(session: Session, file: Path, layer: Experts, aim: Aim) -> Found:
    """Search the projects' space for a layer's two products together, their weights as L2 left them."""
    gpu = find(session.gpus)
    kernel = function(file, mixture.FUNCTION, gpu.target)
    space = combinations(mixture.SPACE)

    def predicted(config: Config) -> tuple[Estimate, str]:
        sizes = {name: int(str(value)) for name, value in config.items()}
        found: list[Prediction] = []
        for product in mixture.products(layer):
            blocks, values = mixture.launch(product, layer, sizes)
            text = LaunchText(grid=str(blocks), l2="warm")
            found += run_object(session, kernel, text, mixture.fitting(values, kernel))
        return _judged(found, aim.objective)

    def rough(config: Config) -> float:
        sizes = {name: int(str(value)) for name, value in config.items()}
        return rough_seconds(layer, sizes, gpu)

    about = _about(session, (file, layer), aim)
    return search(space, predicted, rough=rough, budget=aim.budget, journal=aim.journal, about=about)


def _judged(predictions: Sequence[Prediction], objective: Objective) -> tuple[Estimate, str]:
    return objective_value(predictions, objective), not_followed(predictions)
