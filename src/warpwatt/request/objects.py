"""Kernels that Python packages hold, predicted as sources are: Triton, Numba CUDA and CuPy objects, PTX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.errors import LaunchError, UnsupportedGpuError, UsageError
from warpwatt.core.gpu import Gpu
from warpwatt.core.prediction import Prediction
from warpwatt.core.program import Kernel
from warpwatt.frontend.objects import from_object
from warpwatt.gpus import names_many
from warpwatt.request import numba, triton
from warpwatt.request.choices import complete_gpus
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.launches import typed_text
from warpwatt.request.values import format_pairs

if TYPE_CHECKING:
    from warpwatt.frontend.objects import ObjectKernel
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.request.launch_text import Request
    from warpwatt.request.options import ModelOptions

Answer = TypeVar("Answer")
SCRATCH = "global_scratch"
"""Triton's own parameter: memory of the launcher's, zeros here."""


class Asked(Protocol):
    """What a session says of all kernels and GPUs; :class:`warpwatt.request.session.Session` is one."""

    @property
    def gpus(self) -> str:
        """Names of GPUs."""

    @property
    def modelling(self) -> ModelOptions:
        """Models, clocks, limits."""

    @property
    def notify(self) -> Callable[[str], None]:
        """Hears remarks."""

    def compile_options(self) -> CompileOptions:
        """Return the front end's options."""

    def predict_request(self, request: Request, kernel: Kernel, gpu: Gpu) -> Prediction:
        """Return the prediction of one launch on one GPU."""


def run_object(
    session: Asked, kernel: object, launch: LaunchText, values: Mapping[str, object]
) -> tuple[Prediction, ...]:
    """Return predictions of one launch of an object's kernel on every GPU of the session.

    What the object fixes of the launch (Triton: threads, shared memory, cluster) need not be said.

    Parameters
    ----------
    values
        The arguments as Python values; a function of Triton's is compiled for these.

    Raises
    ------
    WarpWattError
        As :meth:`Session.run <warpwatt.request.session.Session.run>`,
        :func:`~warpwatt.frontend.objects.from_object` and :func:`~warpwatt.request.triton.compiled`.
    """
    return map_object(session, session.predict_request, kernel, launch, values)


def map_object(
    session: Asked,
    answer: Callable[[Request, Kernel, Gpu], Answer],
    kernel: object,
    launch: LaunchText,
    values: Mapping[str, object],
) -> tuple[Answer, ...]:
    """Return what ``answer`` says of the launch on every GPU, as :func:`run_object`."""
    if triton.is_function(kernel):
        launch = replace(launch, arg=format_pairs(triton.passed(triton.unwrapped(kernel, values)[1])))
    elif numba.is_dispatcher(kernel) and values:
        launch = replace(launch, arg=numba.passed(kernel, values))
    elif hasattr(kernel, "operation"):  # CuPy's elementwise kernels, which few have
        from warpwatt.request.cupy import written

        kernel, launch = written(kernel, launch, values)
    typed, made, answers = typed_text(launch), dict[str, "ObjectKernel"](), list["Answer"]()
    for gpu in complete_gpus(session.gpus, session.notify, session.modelling.power_limit):
        try:
            if gpu.target not in made:
                made[gpu.target] = _made(session, kernel, gpu, typed.kernel or "", values)
            request = _request(made[gpu.target], typed, exact=not triton.is_function(kernel))
            answers.append(answer(request, made[gpu.target].kernel, gpu))
        except (LaunchError, UnsupportedGpuError) as error:
            if not names_many(session.gpus):
                raise
            session.notify(f"{gpu.name} left out: {error}")
    return tuple(answers)


def _made(session: Asked, kernel: object, gpu: Gpu, name: str, values: Mapping[str, object]) -> ObjectKernel:
    if triton.is_function(kernel):
        kernel = triton.compiled(kernel, values, gpu.target)
    elif numba.is_dispatcher(kernel) and values:
        kernel = numba.compiled(kernel, values)
    return from_object(kernel, gpu.target, session.compile_options(), name=name)


def _request(made: ObjectKernel, typed: LaunchText, *, exact: bool) -> Request:
    """Return the launch; unless ``exact``, arguments that were compiled into the kernel are left out."""
    if typed.grid is None:
        raise UsageError("no launch: the grid is not known", hint="pass grid=BLOCKS, (X, Y, Z) or a function")
    fixed = LaunchText(
        block=str(made.block) if made.block else None,
        cluster=str(made.cluster) if made.cluster else None,
        shared=made.dynamic_shared,
    )
    request = replace(typed.over(fixed), kernel=None).read()
    if exact:
        return request
    passed = _parameters(made.kernel)
    arguments = {name: value for name, value in request.launch.arguments.items() if name in passed}
    if made.scratch and SCRATCH in passed:
        size = made.scratch * request.launch.grid.count
        arguments = {SCRATCH: Buffer(DType.U8, (size,), Fill.ZEROS), **arguments}
    return replace(request, launch=replace(request.launch, arguments=arguments))


def _parameters(kernel: Kernel) -> set[str]:
    program = kernel.ptx or kernel.sass
    return {p.source_name for p in program.parameters} if program is not None else set()
