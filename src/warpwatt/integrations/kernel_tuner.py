"""Kernel Tuner: run only the configurations whose predicted time or energy is good.

::

    from kernel_tuner import tune_kernel
    from warpwatt.integrations.kernel_tuner import Pruner

    pruner = Pruner("a100", keep=0.05, report="pruned.csv")
    results, env = tune_kernel("convolution_kernel", "convolution.cu", size, args, params, strategy=pruner)

Sources, macros, sizes and arguments are those that Kernel Tuner itself would compile and launch. Nothing runs
on a GPU until the ranking is made; in simulation mode nothing ever does.
"""

from __future__ import annotations

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


class Pruner:
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
        self.gpu = gpu
        self.keep, self.within, self.objective = keep, within, objective
        self.then = then
        self.report = None if report is None else Path(report)
        self.predictor, self.quiet = predictor, quiet
        self.args = args
        self.options: Options = options  # type: ignore[assignment] # its keys are checked by predict
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
        names = list(tuning_options.tune_params)
        configurations = searchspace.sorted_list()
        with tempfile.TemporaryDirectory(prefix="warpwatt-") as folder:
            predictor = self.predictor or self._predictor(runner, Path(folder))
            found: list[Candidate] = []
            for chosen in self._with_progress(configurations):
                found.append(_candidate(dict(zip(names, chosen, strict=True)), predictor))
                if len(found) in (TRIED, len(configurations)):
                    _require_predictions(found)
        self.ranking = rank(found, self._objective(tuning_options), keep=self.keep, within=self.within)
        if self.report is not None:
            self.ranking.save(self.report)
        if not self.quiet:
            print(self.ranking)  # noqa: T201 - Kernel Tuner prints its progress, too
        kept = [tuple(candidate.parameters.values()) for candidate in self.ranking.kept]
        return self._run(kept, searchspace, runner, tuning_options)

    def _with_progress(self, configurations: Sequence[Any]) -> Iterator[Any]:
        """Yield the configurations behind a progress bar, where a terminal can show one."""
        console = Console(file=sys.stderr)
        hidden = self.quiet or not console.is_terminal
        yield from track(configurations, "predicting", console=console, disable=hidden, transient=True)

    def _objective(self, tuning_options: Any) -> str:
        if self.objective is not None:
            return self.objective
        wanted = " ".join(map(str, np.atleast_1d(tuning_options.objective))).lower()
        return "energy" if "energy" in wanted or "joule" in wanted else "time"

    def _predictor(self, runner: Any, folder: Path) -> Predictor:
        gpu = find(self.gpu or str(runner.get_device_info().name)).name
        return KernelTunerKernel(runner, gpu, folder, self.args, self.options)

    def _run(
        self, kept: Sequence[tuple[Any, ...]], searchspace: Any, runner: Any, tuning_options: Any
    ) -> list[dict[str, Any]]:
        """Run configurations in this order, or let the strategy that was asked for search among them."""
        common, space, interface, util = _package()
        if self.then is not None:
            strategy = interface.strategy_map.get(self.then) if isinstance(self.then, str) else self.then
            if strategy is None:
                known = " ".join(sorted(interface.strategy_map))
                raise UsageError(f"Kernel Tuner has no strategy {self.then!r}", hint=f"it has: {known}")
            left = _restrict(kept, searchspace, space)
            found: list[dict[str, Any]] = strategy.tune(left, runner, tuning_options)
            return found
        tuning_options.strategy_options = tuning_options.strategy_options or {}
        cost = common.CostFunc(searchspace, tuning_options, runner, scaling=False, snap=False)
        try:
            cost.eval_all(kept, check_restrictions=False)
        except util.StopCriterionReached as reason:
            if tuning_options.verbose:
                print(reason)  # noqa: T201 - as Kernel Tuner's own strategies do
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
        try:
            return predict(
                Source("kernel.cu", text.encode()),
                **{**self.options, "gpu": self.gpu, "kernel": name, "grid": grid, "block": block},
                shared=_shared(kernel.smem_args, dict(parameters), util),
                args=self._arguments(kernel),
            )
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
