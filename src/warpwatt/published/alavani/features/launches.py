"""The features of a kernel as users bring it: its PTX is analysed, its launch checked, its GPU looked up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Gpu
from warpwatt.core.launch import Launch
from warpwatt.core.program import Kernel, Level
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.gpus import check_launch, occupancy
from warpwatt.published.alavani.features.constants import has_released_table, thesis_constants
from warpwatt.published.alavani.features.extraction import extract
from warpwatt.published.alavani.features.values import Convention

if TYPE_CHECKING:
    from warpwatt.published.alavani.features.values import Features


@dataclass(frozen=True, slots=True)
class LaunchFeatures:
    """The features of one launch on one GPU in one convention."""

    kernel: Kernel
    gpu: Gpu
    launch: Launch
    convention: Convention
    features: Features


def launch_features(
    kernel: Kernel,
    launch: Launch,
    gpu: Gpu,
    convention: Convention,
    loop_counts: tuple[tuple[int, float], ...] = (),
) -> LaunchFeatures:
    """Return the features of a launch.

    On a GPU without a released table the published convention is its formulas with the thesis' constants.
    ``loop_counts`` (source line, iterations) say how often loops run that depend on data. What was assumed
    stands in ``features.assumptions``.

    Raises
    ------
    InputError
        If the kernel has no PTX.
    LaunchError
        If the GPU would refuse the launch.
    ArgumentError
        If a loop or branch depends on an argument that was not given.
    UnsupportedGpuError
        If nobody measured the latency of the GPU's memory.
    """
    program = kernel.ptx
    if program is None:
        hint = "bring CUDA C++ or PTX, or an executable that holds PTX"
        raise InputError(f"{kernel.display_name} has no PTX, of which the features are made", hint=hint)
    check_launch(gpu, kernel.resources, launch)
    execution = analyse_launch(kernel, launch, (Level.PTX,), loop_counts)
    resident = occupancy(gpu, kernel.resources, launch)
    is_borrowed = convention is Convention.PUBLISHED and not has_released_table(gpu.name)
    constants = thesis_constants(gpu) if is_borrowed else None
    found = extract(program, execution, kernel.resources, launch, gpu, resident, convention, constants)
    text = f"{kernel.resources.registers} registers per thread: no compiler for {gpu.target} reported them"
    registers = (text,) if kernel.resources.assumed else ()
    borrowed = (f"no table was released for {gpu.name}: its formulas, the thesis' constants",)
    assumed = (
        *(borrowed if is_borrowed else ()),
        *found.assumptions,
        *registers,
        *(one.message for one in execution.assumptions),
    )
    return LaunchFeatures(kernel, gpu, launch, convention, replace(found, assumptions=assumed))
