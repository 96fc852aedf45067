"""From a device's measured power to runs that coefficients are fitted to.

The file says how long a run took and what it drew, our analysis of the program what it did.

Public names: ``powered_runs(rows, programs, gpu) -> (runs, left_out)``, ``component_constants(runs, gpu)``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.arguments import Fill
from warpwatt.core.case import Case
from warpwatt.core.errors import WarpWattError
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.workload import workload
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.lab.measure.components import PoweredRun, fit_components
from warpwatt.lab.measure.constants import Constant
from warpwatt.lab.measure.supply import ZEROS
from warpwatt.models.component.activity import Activity, activity, toggle_factor
from warpwatt.models.component.parameters import PREFIX, STATIC, parameters
from warpwatt.models.registry import time_model

if TYPE_CHECKING:
    from warpwatt.lab.measure.columns import Row
    from warpwatt.lab.measure.corpus import CorpusProgram, Size

FILE = "power.csv"
USABLE = ("ok", "capped")
"""A run at the power limit counts: its power and its time are as measured."""
LEAST_BUSY = 0.8
"""Share of the loop that the program's own launches must take: putting buffers back costs power too."""
FEWEST = 8
"""Programs below which coefficients are not fitted: they could not be distinguished."""
IDLE = Activity(0.0, {}, {})
"""What the GPU does between launches."""
Part = tuple[Activity, float, float]
"""Work, share of the time and toggle factor of a launch, as many times as the size has it."""


def powered_runs(
    rows: Sequence[Row],
    programs: Mapping[str, CorpusProgram],
    gpu: Gpu,
    parts_of: Callable[[CorpusProgram, Size, Gpu], tuple[Part, ...]] | None = None,
) -> tuple[list[PoweredRun], Counter[str]]:
    """Return the runs of a device that have a good power, and the reasons why others are left out.

    ``parts_of`` analyses a size of a program (default: :func:`analyse_parts`).
    """
    found: list[PoweredRun] = []
    left_out: Counter[str] = Counter()
    known: dict[tuple[str, str], tuple[Part, ...]] = {}
    for row in rows:
        program = programs.get(str(row["program"]))
        if reason := _unusable(row, program):
            left_out[reason] += 1
            continue
        assert program is not None
        key = program.name, str(row["size"])
        try:
            if key not in known:
                known[key] = (parts_of or analyse_parts)(program, program.size(key[1]), gpu)
        except WarpWattError as error:
            left_out[f"{program.name}: {error.message}"] += 1
            continue
        found.append(_run(row, program, gpu, known[key]))
    return found, left_out


def component_constants(runs: Sequence[PoweredRun], gpu: Gpu) -> list[Constant]:
    """Return the coefficients of the component power model, fitted to runs on a GPU, as constants.

    The prior is what the GPU's specification says.

    Raises
    ------
    InputError
        If a run is impossible.
    """
    fit = fit_components(runs, gpu)
    return [
        Constant(name, value, error, _unit(name), len(runs))
        for name, (value, error) in fit.constants().items()
    ]


def has_enough_programs(runs: Sequence[PoweredRun]) -> bool:
    """Whether the runs are of enough programs."""
    return len({run.group for run in runs}) >= FEWEST


def analyse_parts(program: CorpusProgram, size: Size, gpu: Gpu) -> tuple[Part, ...]:
    """Return what each launch of a size does, analysed on a GPU.

    Raises
    ------
    WarpWattError
        If a kernel cannot be compiled or analysed.
    """
    model = time_model()
    weighed = []
    for one in size.launches:
        kernel = load_kernel(program.source, gpu.target, CompileOptions(), one.kernel)
        traffic = workload(analyse_launch(kernel, one.launch, model.levels), gpu, kernel.resources)
        case = Case(kernel, traffic, one.launch, gpu, Clocks(gpu.boost_clock, gpu.memory_clock))
        times = one.launch.repeats
        seconds = model.predict(case).time.value * times
        work = activity(case)
        work = replace(work, amounts={name: amount * times for name, amount in work.amounts.items()})
        weighed.append((work, seconds, toggle_factor(case, parameters(gpu).toggles)))
    whole = math.fsum(seconds for _, seconds, _ in weighed)
    return tuple((work, seconds / whole, toggle) for work, seconds, toggle in weighed)


def _unusable(row: Row, program: CorpusProgram | None) -> str:
    """Return why a row is of no use, or nothing."""
    if str(row["status"]) not in USABLE:
        return f"status {row['status']}"
    if program is None:
        return f"{row['program']}: not in the corpus"
    if any(row[name] in ("", None) for name in ("power_w", "run_s", "busy", "sm_clock_after_hz")):
        return "a figure is missing"
    if float(str(row["busy"])) < LEAST_BUSY:
        return f"less than {LEAST_BUSY:.0%} of the loop were the program's launches"
    return ""


def _run(row: Row, program: CorpusProgram, gpu: Gpu, parts: tuple[Part, ...]) -> PoweredRun:
    """Return a row as a run: launches as long as measured, then what is left of the loop."""
    seconds, busy = float(str(row["run_s"])), min(1.0, float(str(row["busy"])))
    zeros = parameters(gpu).toggles[Fill.ZEROS] if row["data"] == ZEROS else None
    own = [
        (work, share * busy * seconds, toggle if zeros is None else zeros) for work, share, toggle in parts
    ]
    if busy < 1.0:
        own.append((IDLE, (1 - busy) * seconds, 1.0))
    clocks = Clocks(_mean(row, "sm_clock") or gpu.boost_clock, _mean(row, "memory_clock") or gpu.memory_clock)
    watts, celsius = float(str(row["power_w"])), _mean(row, "temperature", "c")
    return PoweredRun(program.family, gpu, clocks, tuple(own), watts, celsius)


def _mean(row: Row, what: str, unit: str = "hz") -> float | None:
    """Return the mean of a condition before and after the run, None where neither is known."""
    cells = [row[f"{what}_{when}_{unit}"] for when in ("before", "after")]
    values = [float(str(cell)) for cell in cells if cell not in ("", None)]
    return math.fsum(values) / len(values) if values else None


def _unit(name: str) -> str:
    """Return the unit of a coefficient."""
    component = name.removeprefix(PREFIX)
    if component.startswith("voltage_") or component == "residual":
        return "1"
    if component in ("clocks", "active SMs"):
        return "W/GHz"
    if component in STATIC:
        return "W"
    return "J/B" if component in ("shared", "l1", "l2", "dram") else "J"
