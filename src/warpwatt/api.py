"""The Python interface: ``warpwatt.predict`` and ``warpwatt.predict_all``.

::

    import warpwatt

    p = warpwatt.predict("my.cu", grid=4096, block=256, args={"n": 2**20, "x": "f32[n]", "y": "f32[n]"})
    print(p)                   # one line; in a notebook, p alone shows a card
    p.time.value, p.energy     # seconds; joules with their interval
    p.save("report.html")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict, Unpack

from warpwatt.core.errors import UsageError, WarpWattError
from warpwatt.core.program import Unknown
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.configurations import compiler_of
from warpwatt.request.choices import note
from warpwatt.request.launch_text import LaunchText, launch_of
from warpwatt.request.objects import run_object
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.session import Session
from warpwatt.request.values import format_pairs
from warpwatt.results import Result, Results, results

Dimensions = int | str | Iterable[int]
"""Of a grid, block or cluster: ``256``, ``(16, 16)`` or ``"16,16"``."""
Grid = Dimensions | Callable[[Mapping[str, Any]], Dimensions]
"""A grid may also be a function of arguments and macros, as in Triton: ``lambda p: p["n"] // p["TILE"]``."""
Input = str | os.PathLike[str] | Source | object
"""A file by name, CUDA or PTX text of several lines, a source that was read, or a kernel of Triton, Numba
CUDA or CuPy."""


class Options(TypedDict, total=False):
    """What can be said of a prediction, everything optional; as the command line's options of these names.

    A launch that is not given is read from ``// warpwatt:`` lines of the source.
    """

    gpu: str
    """Names, comma-separated, or ``all``."""
    kernel: str | None
    grid: Grid | None
    block: Dimensions | None
    cluster: Dimensions | None
    shared: int | None
    """Dynamic shared memory in bytes per block."""
    l2: str | None
    """What L2 holds before the launch: ``"cold"`` (default), ``"warm"`` or ``"previous"``."""
    args: Mapping[str, object] | str | os.PathLike[str] | None
    """Arguments by name, numbers or texts such as ``"f32[n]:zeros"``; or the name of a TOML file.

    For a function of Triton's also its constants and ``num_warps``, ``num_stages``, ``num_ctas``.
    """
    loops: Mapping[int, float]
    """Iterations by source line, of loops that depend on data."""
    define: Mapping[str, object]
    include: Iterable[str]
    flags: Iterable[str]
    """Further flags of the compiler."""
    toolkit: str
    maxrregcount: int | None
    configurations: int
    """How many configurations of this source are predicted, of which this is one: from eight on NVRTC
    compiles them, in a quarter of the time, where it makes the machine code of the first that nvcc makes."""
    model: str | Iterable[str]
    clock: str | float | None
    """MHz of the SMs, or ``"SM,MEMORY"``."""
    power_limit: str | float | None
    """W that the board may draw, where that is not the data sheet's."""
    level: str | None
    unknown: str
    profile: str | os.PathLike[str] | None
    advice: bool
    """Whether to predict what changes to the kernel would save, too."""
    machine_code: bool
    """Whether to keep machine code for reports."""
    notify: Callable[[str], None]
    """Hears remarks, such as which GPU was left out; default: standard error."""


def predict(source: Input, **options: Unpack[Options]) -> Result:
    """Return time, power and energy of one launch of one kernel on one GPU, by default the H200.

    Parameters
    ----------
    source
        A file by name, CUDA or PTX text of several lines, or a kernel of Triton (a ``@triton.jit`` function
        or a ``CompiledKernel``), Numba CUDA or CuPy.
    options
        See :class:`Options`.

    Raises
    ------
    UsageError
        If the source describes several launches, or ``gpu`` names several GPUs: see :func:`predict_all`.
    WarpWattError
        As the command line reports it: the error names the file, the line and the fix.

    >>> saxpy = '''
    ... __global__ void saxpy(int n, float a, const float* x, float* y) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) y[i] += a * x[i];
    ... }'''
    >>> p = predict(saxpy, grid=4096, block=256, args={"n": 2**20, "a": 2, "x": "f32[n]", "y": "f32[n]"})
    >>> 1e-6 < p.time.value < 20e-6, p.case.gpu.name
    (True, 'NVIDIA H200')
    """
    found = predict_all(source, **options)
    if len(found) != 1:
        hint = "name one kernel, launch and GPU, or call warpwatt.predict_all"
        raise UsageError(f"{len(found)} predictions, not one", hint=hint)
    return found[0]


def predict_all(source: Input, **options: Unpack[Options]) -> Results:
    """Return predictions of every launch that the source or the caller describes, on every GPU named.

    Launches come first, then GPUs; errors as :func:`predict`.

    >>> scale = '''
    ... __global__ void scale(float a, float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= a; }'''
    >>> found = predict_all(scale, gpu="a100,t4", grid=4096, block=256, args={"a": 2, "x": "f32[4096*256]"})
    >>> [p.case.gpu.name for p in found], found[0].time.value < found[1].time.value
    (['NVIDIA A100-SXM4-40GB', 'Tesla T4'], True)
    """
    try:
        return _predicted(source, options)
    except WarpWattError as error:
        for text in (error.details, f"fix: {error.hint}" if error.hint else ""):
            if text:
                error.add_note(text)  # the traceback shows what str() leaves out
        raise


def _predicted(source: Input, options: Options) -> Results:
    opened = source_of(source)
    session = Session(
        Source("", b"") if opened is None else opened,
        options.get("gpu", "h200"),
        _compilation(options),
        _modelling(options),
        options.get("machine_code", False),
        options.get("advice", False),
        options.get("notify", note),
        compiler_of(options.get("configurations", 1)),
    )
    launch = _launch(options)
    if opened is None:
        return results(run_object(session, source, launch, _values(options)), {})
    text = {opened.name: opened.text} if isinstance(opened, Source) and b"\0" not in opened.data else {}
    return results(session.run(launch), text)


def source_of(source: Input) -> str | Source | None:
    """Return what a session reads: texts of several lines as they are, names of files; None for objects."""
    if isinstance(source, str) and "\n" in source:
        return Source("kernel.cu", source.encode())
    if isinstance(source, str | Source):
        return source
    return os.fspath(source) if isinstance(source, os.PathLike) else None


def _launch(options: Options) -> LaunchText:
    args = options.get("args")
    file = None if args is None or isinstance(args, Mapping) else Path(args)
    return launch_of({**options, "grid": _grid(options), "args": _values(options)}, file)


def _values(options: Options) -> Mapping[str, object]:
    """Return the arguments that were given by name."""
    args = options.get("args")
    return args if isinstance(args, Mapping) else {}


def _grid(options: Options) -> Dimensions | None:
    grid = options.get("grid")
    return grid({**options.get("define", {}), **_values(options)}) if callable(grid) else grid


def _compilation(options: Options) -> CompilationOptions:
    return CompilationOptions(
        format_pairs(options.get("define", {})),
        tuple(options.get("include", ())),
        options.get("toolkit", ""),
        options.get("maxrregcount"),
        tuple(options.get("flags", ())),
    )


def _modelling(options: Options) -> ModelOptions:
    model, clock, profile = options.get("model", ()), options.get("clock"), options.get("profile")
    limit = options.get("power_limit")
    return ModelOptions(
        (model,) if isinstance(model, str) else tuple(model),
        None if clock is None else str(clock),
        options.get("level"),
        Unknown(options.get("unknown", Unknown.ESTIMATE)),
        None if profile is None else Path(profile),
        power_limit=None if limit is None else str(limit),
    )
