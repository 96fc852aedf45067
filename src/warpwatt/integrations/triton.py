"""Triton's autotuner: benchmark only the configurations whose predicted time or energy is good.

::

    from warpwatt.integrations.triton import warpwatt_model

    @triton.autotune(configs, key=["M", "N", "K"], prune_configs_by={
        "perf_model": warpwatt_model(lambda: matmul, "a100"), "top_k": 0.1})
    @triton.jit
    def matmul(...): ...

``lambda: matmul`` because the function does not exist yet where its decorator is made. :func:`pruned` says
the same of a function that is tuned already, :func:`rank` returns the ranking itself, without a GPU.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.api import predict
from warpwatt.choose.ranking import OBJECTIVES, Candidate, Ranking
from warpwatt.choose.ranking import rank as ranked
from warpwatt.core.errors import InputError, UsageError
from warpwatt.request.triton import OPTIONS, is_function

if TYPE_CHECKING:
    import os

    from warpwatt.api import Grid

__all__ = ["Model", "pruned", "rank", "warpwatt_model", "warpwatt_prune"]

_LAUNCH = ("grid", "warmup", "stream")
"""What Triton's launcher passes along beside the function's own arguments."""


@dataclass(slots=True)
class Model:
    """Predicts configurations of one Triton function; serves as ``perf_model``.

    Attributes
    ----------
    kernel
        The function, tuned or not, or a function without arguments that returns it.
    gpu
        For which GPU; None: the one that PyTorch would run on.
    objective
        ``time``, ``energy`` or ``edp``.
    options
        Further options of :func:`warpwatt.predict`.
    candidates
        What was predicted so far, by the text of the configuration and its arguments.
    """

    kernel: Any
    gpu: str | None = None
    objective: str = "time"
    options: dict[str, Any] = field(default_factory=dict)
    candidates: dict[str, Candidate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise InputError(f"no objective {self.objective!r}", hint=f"objectives: {' '.join(OBJECTIVES)}")

    def __call__(self, *, grid: Grid, **arguments: Any) -> float:
        """Return seconds, joules or joules times seconds of a launch, as ``perf_model`` is asked for it.

        Infinite where the GPU would refuse the launch; 0, so that it stays, where nothing can be predicted.
        """
        values = {name: value for name, value in arguments.items() if name not in _LAUNCH}
        candidate = self.candidate(self._meta(values), grid, values)
        if candidate.time is None:
            return math.inf if candidate.impossible else 0.0
        return candidate.objective(self.objective)

    def candidate(self, chosen: Mapping[str, Any], grid: Grid, arguments: Mapping[str, Any]) -> Candidate:
        """Return what is predicted of the configuration ``chosen``, laid over ``arguments``.

        Raises
        ------
        UsageError
            If the GPU or the function is not known.
        """
        function, gpu = self.function(), self.gpu or _own_gpu()
        values = {**arguments, **chosen}
        key = repr((sorted(chosen.items()), sorted((n, _fingerprint(v)) for n, v in values.items()), gpu))
        if key not in self.candidates:
            self.candidates[key] = _candidate(function, chosen, values, gpu, grid, self.options)
        return self.candidates[key]

    def function(self) -> Any:
        """Return the Triton function, without its autotuner.

        Raises
        ------
        UsageError
            If ``kernel`` neither is nor returns one.
        """
        found = self.kernel() if inspect.isfunction(self.kernel) else self.kernel
        if not is_function(found):
            hint = "pass the function, or lambda: function where it is not defined yet"
            raise UsageError(f"{found!r} is no function of Triton's", hint=hint)
        while hasattr(found, "configs"):
            found = found.fn
        return found

    def _meta(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return which of the arguments are a configuration's: constants and options."""
        function = self.function()
        while not hasattr(function, "params"):
            function = function.fn
        constants = {p.name for p in function.params if p.is_constexpr}
        return {name: value for name, value in values.items() if name in constants or name in OPTIONS}


def warpwatt_model(kernel: Any, gpu: str | None = None, *, objective: str = "time", **options: Any) -> Model:
    """Return a ``perf_model`` for ``prune_configs_by``; see :class:`Model`."""
    return Model(kernel, gpu, objective, options)


def warpwatt_prune(
    kernel: Any,
    gpu: str | None = None,
    *,
    keep: float | None = None,
    within: float | None = 1.5,
    objective: str = "time",
    report: str | os.PathLike[str] | None = None,
    quiet: bool = True,
    **options: Any,
) -> Callable[..., list[Any]]:
    """Return an ``early_config_prune`` that keeps configurations predicted near the best.

    Parameters
    ----------
    keep, within
        As :func:`warpwatt.choose.ranking.rank` has them.
    report
        A CSV file for every configuration's prediction, decision and reason; the latest tuning's.
    quiet
        Whether not to write a summary to standard error.
    """
    model = Model(kernel, gpu, objective, options)

    def early_config_prune(configs: Sequence[Any], named_args: Mapping[str, Any], **kwargs: Any) -> list[Any]:
        found, kept = _ranking(model, configs, {**named_args, **kwargs}, keep, within)
        if report is not None:
            found.save(Path(report))
        if not quiet:
            print(found, file=sys.stderr)  # noqa: T201 - what was asked for
        return kept

    return early_config_prune


def pruned(tuned: Any, gpu: str | None = None, *, top_k: float = 0.1, **options: Any) -> Any:
    """Return a function of ``@triton.autotune`` that benchmarks only the ``top_k`` predicted best.

    The function itself is changed, as ``prune_configs_by`` in its decorator would have; ``options`` as
    :func:`warpwatt_model` has them.

    Raises
    ------
    UsageError
        If it is not tuned.
    """
    _require_tuned(tuned)
    tuned.perf_model = warpwatt_model(tuned, gpu, **options)
    tuned.configs_top_k = top_k
    return tuned


def rank(
    tuned: Any,
    gpu: str,
    *,
    grid: Grid,
    args: Mapping[str, Any],
    keep: float | None = 0.1,
    within: float | None = None,
    objective: str = "time",
    **options: Any,
) -> Ranking:
    """Return the configurations of a tuned function ranked; ``grid`` and ``args`` as ``warpwatt.predict``.

    Raises
    ------
    UsageError
        If the function is not tuned.
    """
    _require_tuned(tuned)
    model = Model(tuned, gpu, objective, options)
    return _ranking(model, tuned.configs, {"grid": grid, **args}, keep, within)[0]


def _require_tuned(function: Any) -> None:
    if not (is_function(function) and hasattr(function, "configs")):
        hint = "decorate it with @triton.autotune(configs, key=...)"
        raise UsageError("this function is not tuned", hint=hint)


def _ranking(
    model: Model, configs: Sequence[Any], given: Mapping[str, Any], keep: float | None, within: float | None
) -> tuple[Ranking, list[Any]]:
    """Return the ranking and the configurations kept, best first."""
    values = {name: value for name, value in given.items() if name not in _LAUNCH}
    asked = {id(model.candidate(c.all_kwargs(), given["grid"], values)): c for c in configs}
    candidates = [model.candidate(c.all_kwargs(), given["grid"], values) for c in configs]
    found = ranked(candidates, model.objective, keep=keep, within=within)
    return found, [asked[id(candidate)] for candidate in found.kept]


def _candidate(
    function: Any,
    chosen: Mapping[str, Any],
    values: Mapping[str, Any],
    gpu: str,
    grid: Grid,
    options: Mapping[str, Any],
) -> Candidate:
    try:
        return Candidate.of(chosen, predict(function, gpu=gpu, grid=grid, args=values, **options))
    except Exception as error:  # noqa: BLE001 - one configuration must not end the tuning of all
        return Candidate.failed(chosen, error)


def _fingerprint(value: Any) -> str:
    """Return what distinguishes an argument: of a tensor its type and shape, never its contents."""
    shape = getattr(value, "shape", None)
    return repr(value) if shape is None else f"{getattr(value, 'dtype', '')}{tuple(shape)}"


def _own_gpu() -> str:
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        raise UsageError("no GPU here to predict for", hint="name one: warpwatt_model(kernel, 'a100')")
    return str(torch.cuda.get_device_name())
