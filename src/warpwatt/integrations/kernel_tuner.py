"""Kernel Tuner: run only the configurations whose predicted time or energy is good.

::

    from kernel_tuner import tune_kernel
    from warpwatt.integrations.kernel_tuner import Guided

    results, env = tune_kernel(
        "convolution_kernel", "convolution.cu", size, args, params,
        strategy=Guided("a100"), strategy_options={"max_fevals": 25},
    )

:class:`Guided` predicts and runs in turn; :class:`Pruner` predicts all and then runs the best.

Sources, macros, sizes and arguments are those that Kernel Tuner itself would compile and launch. Nothing runs
on a GPU until the ranking is made; in simulation mode nothing ever does.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import track

from warpwatt.api import predict
from warpwatt.choose.ranking import Candidate, Ranking, rank
from warpwatt.choose.turns import predict_and_run
from warpwatt.core.errors import InputError, ToolchainError, UsageError, WarpWattError
from warpwatt.core.prediction import Prediction
from warpwatt.frontend.compiled import Source
from warpwatt.gpus import find

if TYPE_CHECKING:
    import os

    from warpwatt.api import Options

    Parameters = Mapping[str, Any]
    Predictor = Callable[[Parameters], Prediction | Candidate]

LANGUAGES = ("CUDA", "CUPY", "NVCUDA")
TRIED = 25
"""So many configurations without any prediction are a mistake, and the rest is not waited for."""
LARGEST_FILE = 2**28
"""Bytes of an argument whose contents are looked at; a larger one is taken to hold random numbers."""


class _Strategy:
    """A strategy of Kernel Tuner's that predicts; what it is asked for."""

    def __init__(
        self,
        gpu: str | None,
        objective: str | None,
        args: Mapping[str, object] | None,
        predictor: Predictor | None,
        options: Mapping[str, Any],
    ) -> None:
        self.gpu, self.objective, self.args, self.predictor = gpu, objective, args, predictor
        self.options: Options = options  # type: ignore[assignment] # its keys are checked by predict

    def _objective(self, tuning_options: Any) -> str:
        if self.objective is not None:
            return self.objective
        wanted = " ".join(map(str, np.atleast_1d(tuning_options.objective))).lower()
        return "energy" if "energy" in wanted or "joule" in wanted else "time"

    def _predicting(self, runner: Any, folder: Path, configurations: int) -> Predictor:
        """Return what predicts each of so many configurations."""
        if self.predictor is not None:
            return self.predictor
        gpu = find(self.gpu or str(runner.get_device_info().name)).name
        options: Options = {**self.options, "configurations": configurations}
        return KernelTunerKernel(runner, gpu, folder, self.args, options)


class Guided(_Strategy):
    """A strategy of Kernel Tuner's that predicts a configuration and runs one in turn.

    Predicted is what promises most by all that is known, run is the best prediction that has not run. It
    ends with Kernel Tuner's own ``max_fevals`` or ``time_limit``, or when all has run.

    Parameters
    ----------
    gpu
        For which GPU; None: the one that Kernel Tuner runs on.
    objective
        ``time``, ``energy`` or ``edp``; None: energy where Kernel Tuner's own objective names it, else time.
    args, predictor, options
        As :class:`Pruner` has them.

    Attributes
    ----------
    predicted
        What was said of each configuration that was predicted, in that order, after tuning.
    """

    def __init__(
        self,
        gpu: str | None = None,
        *,
        objective: str | None = None,
        args: Mapping[str, object] | None = None,
        predictor: Predictor | None = None,
        **options: Any,
    ) -> None:
        super().__init__(gpu, objective, args, predictor, options)
        self.predicted: list[Candidate] = []

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> list[dict[str, Any]]:
        """Predict and run in turn (Kernel Tuner's protocol of a strategy).

        Raises
        ------
        UnknownGpuError
            If no GPU of that name is known.
        WarpWattError
            If no configuration can be predicted.
        """
        space = _configurations(searchspace, tuning_options)
        objective, cost = self._objective(tuning_options), _cost(searchspace, runner, tuning_options)
        self.predicted = []

        def told(parameters: Parameters) -> float | None:
            self.predicted.append(found := _candidate(parameters, predictor))
            if len(self.predicted) in (TRIED, len(space)):
                _require_predictions(self.predicted)
            value = found.objective(objective)
            return value if found.impossible or value < math.inf else None

        def run(parameters: Parameters) -> float | None:
            value = float(np.ravel(cost(tuple(parameters.values()), check_restrictions=False))[0])
            return value if value < cost.invalid_return_value else None

        with tempfile.TemporaryDirectory(prefix="warpwatt-") as folder:
            predictor = self._predicting(runner, Path(folder), len(space))
            _until_stopped(lambda: predict_and_run(space, told, run), tuning_options)
        results: list[dict[str, Any]] = cost.results
        return results


class Pruner(_Strategy):
    """A strategy of Kernel Tuner's that predicts every configuration and runs the promising ones.

    Parameters
    ----------
    gpu
        For which GPU; None: the one that Kernel Tuner runs on.
    keep, within
        How many to run, as :func:`~warpwatt.choose.ranking.rank` has them: a share or number of all, and a
        factor of the best prediction.
    objective
        ``time``, ``energy`` or ``edp``; None: energy where Kernel Tuner's own objective names it, else time.
    then
        What searches the remaining space: a strategy of Kernel Tuner's, by name or as an object. None: all
        of it runs, best prediction first, so that any budget is spent on the best.
    report
        A CSV file for every configuration's prediction, decision and reason.
    args
        The kernel's arguments in place of those given to Kernel Tuner, as ``warpwatt.predict`` has them.
    predictor
        What predicts a configuration in place of WarpWatt: takes the parameters, returns a prediction.
    quiet
        Whether not to print what was pruned.
    options
        Further options of :func:`warpwatt.predict`, such as ``toolkit`` or ``clock``.

    Attributes
    ----------
    ranking
        What was decided, after tuning.
    """

    def __init__(  # noqa: PLR0913 - keywords of one user-facing call
        self,
        gpu: str | None = None,
        *,
        keep: float | None = 0.1,
        within: float | None = None,
        objective: str | None = None,
        then: Any = None,
        report: str | os.PathLike[str] | None = None,
        args: Mapping[str, object] | None = None,
        predictor: Predictor | None = None,
        quiet: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(gpu, objective, args, predictor, options)
        self.keep, self.within = keep, within
        self.then = then
        self.report = None if report is None else Path(report)
        self.quiet = quiet
        self.ranking: Ranking | None = None
        rank([], self.objective or "time", keep=keep, within=within)  # refuses what is out of range

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> list[dict[str, Any]]:
        """Rank the space and run what is kept (Kernel Tuner's protocol of a strategy).

        Raises
        ------
        UnknownGpuError
            If no GPU of that name is known.
        WarpWattError
            If no configuration can be predicted, or the report cannot be written.
        """
        configurations = _configurations(searchspace, tuning_options)
        with tempfile.TemporaryDirectory(prefix="warpwatt-") as folder:
            predictor = self._predicting(runner, Path(folder), len(configurations))
            found: list[Candidate] = []
            for chosen in self._with_progress(configurations):
                found.append(_candidate(chosen, predictor))
                if len(found) in (TRIED, len(configurations)):
                    _require_predictions(found)
        self.ranking = rank(found, self._objective(tuning_options), keep=self.keep, within=self.within)
        if self.report is not None:
            self.ranking.save(self.report)
        if not self.quiet:
            print(self.ranking)  # noqa: T201 - Kernel Tuner prints its progress, too
        kept = [tuple(candidate.parameters.values()) for candidate in self.ranking.kept]
        return self._run(kept, searchspace, runner, tuning_options)

    def _with_progress(self, configurations: Sequence[Parameters]) -> Iterator[Parameters]:
        """Yield the configurations behind a progress bar, where a terminal can show one."""
        console = Console(file=sys.stderr)
        hidden = self.quiet or not console.is_terminal
        yield from track(configurations, "predicting", console=console, disable=hidden, transient=True)

    def _run(
        self, kept: Sequence[tuple[Any, ...]], searchspace: Any, runner: Any, tuning_options: Any
    ) -> list[dict[str, Any]]:
        """Run configurations in this order, or let the strategy that was asked for search among them."""
        _, space, interface, _ = _package()
        if self.then is not None:
            strategy = interface.strategy_map.get(self.then) if isinstance(self.then, str) else self.then
            if strategy is None:
                known = " ".join(sorted(interface.strategy_map))
                raise UsageError(f"Kernel Tuner has no strategy {self.then!r}", hint=f"it has: {known}")
            left = _restrict(kept, searchspace, space)
            found: list[dict[str, Any]] = strategy.tune(left, runner, tuning_options)
            return found
        cost = _cost(searchspace, runner, tuning_options)
        _until_stopped(lambda: cost.eval_all(kept, check_restrictions=False), tuning_options)
        results: list[dict[str, Any]] = cost.results
        return results


@dataclass(frozen=True, slots=True)
class KernelTunerKernel:
    """Predicts configurations of the kernel that a runner of Kernel Tuner's holds."""

    runner: Any
    gpu: str
    folder: Path
    """Where the contents of arguments are put."""
    args: Mapping[str, object] | None
    options: Options
    _described: dict[str, object] = field(default_factory=dict)

    def __call__(self, parameters: Parameters) -> Prediction:
        """Return the prediction of one configuration.

        Raises
        ------
        WarpWattError
            If it cannot be compiled, launched or predicted.
        """
        _, _, _, util = _package()
        kernel, own = self.runner.kernel_options, self.runner.kernel_source
        if str(own.lang).upper() not in LANGUAGES:
            hint = f"lang: {' '.join(LANGUAGES)}"
            raise InputError(f"kernels in {own.lang} cannot be predicted", hint=hint)
        divisors = (kernel.grid_div_x, kernel.grid_div_y, kernel.grid_div_z)
        block, grid = util.setup_block_and_grid(
            kernel.problem_size, divisors, dict(parameters), kernel.block_size_names
        )
        name, text, files = own.prepare_list_of_files(
            kernel.kernel_name, dict(parameters), grid, block, kernel.block_size_names
        )
        macros, source = split_macros(text)
        asked: Options = {
            **self.options,
            "gpu": self.gpu,
            "kernel": name,
            "grid": grid,
            "block": block,
            "define": {**self.options.get("define", {}), **macros},
            "shared": _shared(kernel.smem_args, dict(parameters), util),
            "args": self._arguments(kernel),
        }
        try:
            return predict(Source("kernel.cu", source.encode()), **asked)
        finally:
            for file in files.values():
                Path(file).unlink(missing_ok=True)

    def _arguments(self, kernel: Any) -> Mapping[str, object]:
        """Return the arguments for ``warpwatt.predict``, by position; contents go to files once."""
        if self.args is not None:
            return self.args
        if not self._described:
            given = {str(i): value for i, value in enumerate(kernel.arguments or ())}
            for name, value in {**given, **(kernel.cmem_args or {})}.items():
                self._described[name] = describe_argument(name, value, self.folder)
        return self._described


def split_macros(text: str) -> tuple[dict[str, str], str]:
    r"""Return the macros that Kernel Tuner has put before a source, and the source as it was.

    What it puts there besides, constants for loops to be unrolled by, stays where it is.

    >>> split_macros("#define tile 4\n#define n (2 * tile)\n#line 1\n__global__ void k() {}")
    ({'tile': '4', 'n': '(2 * tile)'}, '__global__ void k() {}')
    """
    head, line, source = text.partition("#line 1\n")
    words = [one.split(" ", 2) for one in head.splitlines()]
    if not line or any(len(one) != 3 or one[0] != "#define" or one[2].endswith("\\") for one in words):
        return {}, text
    return {name: value for _, name, value in words}, source


def describe_argument(name: str, value: Any, folder: Path) -> object:
    """Return an argument of Kernel Tuner's for ``warpwatt.predict``, its contents in a file of ``folder``.

    >>> describe_argument("0", np.int32(5), Path())
    5
    >>> describe_argument("1", np.zeros((2, 3), np.float32), Path())
    'f32[2,3]:zeros'
    """
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        return value  # a number, or an array that lives on a GPU
    kind = f"{value.dtype.kind}{8 * value.dtype.itemsize}" if value.dtype.kind in "fiu" else ""
    if not kind:
        hint = "say what it is: Pruner(..., args={...})"
        raise InputError(f"argument {name}: no buffer has elements of type {value.dtype}", hint=hint)
    shape = f"{kind}[{','.join(map(str, value.shape)) or 1}]"
    if not value.any():
        return f"{shape}:zeros"
    if value.nbytes > LARGEST_FILE:
        return f"{shape}:random"
    file = folder / f"{name}.npy"
    np.save(file, value)
    return f"{shape}:{file}"


def _configurations(searchspace: Any, tuning_options: Any) -> list[dict[str, Any]]:
    names = list(tuning_options.tune_params)
    return [dict(zip(names, chosen, strict=True)) for chosen in searchspace.sorted_list()]


def _cost(searchspace: Any, runner: Any, tuning_options: Any) -> Any:
    """Return Kernel Tuner's function that runs a configuration, which keeps the results."""
    tuning_options.strategy_options = tuning_options.strategy_options or {}
    return _package()[0].CostFunc(searchspace, tuning_options, runner, scaling=False, snap=False)


def _until_stopped(run: Callable[[], object], tuning_options: Any) -> None:
    """Run what Kernel Tuner's budget may stop."""
    try:
        run()
    except _package()[3].StopCriterionReached as reason:
        if tuning_options.verbose:
            print(reason)  # noqa: T201 - as Kernel Tuner's own strategies do


def _candidate(parameters: Parameters, predictor: Predictor) -> Candidate:
    try:
        found = predictor(parameters)
    except Exception as error:  # noqa: BLE001 - one configuration must not end the tuning of thousands
        return Candidate.failed(parameters, error)
    return found if isinstance(found, Candidate) else Candidate.of(parameters, found)


def _require_predictions(found: Sequence[Candidate]) -> None:
    """Raise the reason where nothing could be predicted: a ranking of nothing would hide a mistake."""
    unknown = [candidate for candidate in found if candidate.time is None and not candidate.impossible]
    if not unknown or any(candidate.time is not None for candidate in found):
        return
    raise WarpWattError(
        f"none of {len(found)} configurations could be predicted; {unknown[0].name}: {unknown[0].error}",
        hint="see that warpwatt.predict can predict one of them",
    )


def _restrict(kept: Sequence[tuple[Any, ...]], searchspace: Any, space: Any) -> Any:
    """Return the space of these configurations alone."""
    names = list(searchspace.tune_params)
    entries = {",".join(map(str, chosen)): dict(zip(names, chosen, strict=True)) for chosen in sorted(kept)}
    return space.Searchspace(
        None, None, None, from_cache={"tune_params": searchspace.tune_params, "cache": entries}
    )


def _shared(arguments: Any, parameters: dict[str, Any], util: Any) -> int | None:
    """Return the bytes of dynamic shared memory."""
    size = util.get_smem_args(arguments, parameters).get("size") if arguments else None
    return None if size is None else int(size)


def _package() -> tuple[Any, Any, Any, Any]:
    """Return the modules of Kernel Tuner's that are used: common, searchspace, interface, util."""
    try:
        from kernel_tuner import interface, searchspace, util
        from kernel_tuner.strategies import common
    except ImportError as error:
        hint = "pip install 'warpwatt[tuner]'"
        raise ToolchainError(f"Kernel Tuner cannot be imported: {error}", hint=hint) from None
    return common, searchspace, interface, util
