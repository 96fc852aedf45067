"""The Python interface: ``warpwatt.predict`` and ``warpwatt.predict_all``.

::

    import warpwatt

    p = warpwatt.predict("my.cu", grid=4096, block=256, args={"n": 2**20, "x": "f32[n]", "y": "f32[n]"})
    print(p.time, p.energy)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from warpwatt.core.errors import UsageError
from warpwatt.core.program import Unknown
from warpwatt.frontend.compiled import Source
from warpwatt.session.choices import note
from warpwatt.session.options import CompilationOptions, LaunchOptions, ModelOptions
from warpwatt.session.session import Session

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction

Dimensions = int | str | Iterable[int]
"""Of a grid, block or cluster: ``256``, ``(16, 16)`` or ``"16,16"``."""
Input = str | os.PathLike[str] | Source
"""A file by name, CUDA or PTX text of several lines, or a source that was read."""


class Options(TypedDict, total=False):
    """What can be said of a prediction, everything optional; as the command line's options of these names.

    A launch that is not given is read from ``// warpwatt:`` lines of the source.
    """

    gpu: str
    """Names, comma-separated, or ``all``."""
    kernel: str | None
    grid: Dimensions | None
    block: Dimensions | None
    cluster: Dimensions | None
    shared: int | None
    """Dynamic shared memory in bytes per block."""
    args: Mapping[str, object] | str | os.PathLike[str] | None
    """Arguments by name, numbers or texts such as ``"f32[n]:zeros"``; or the name of a TOML file."""
    loops: Mapping[int, float]
    """Iterations by source line, of loops that depend on data."""
    define: Mapping[str, object]
    include: Iterable[str]
    flags: Iterable[str]
    """Further flags of the compiler."""
    toolkit: str
    maxrregcount: int | None
    model: str | Iterable[str]
    clock: str | float | None
    """MHz of the SMs, or ``"SM,MEMORY"``."""
    level: str | None
    unknown: str
    profile: str | os.PathLike[str] | None
    advice: bool
    """Whether to predict what changes to the kernel would save, too."""
    machine_code: bool
    """Whether to keep machine code for reports."""
    tell: Callable[[str], None]
    """Hears remarks, such as which GPU was left out; default: standard error."""


def predict(source: Input, **options: Unpack[Options]) -> Prediction:
    """Return time, power and energy of one launch of one kernel on one GPU, by default the H200.

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


def predict_all(source: Input, **options: Unpack[Options]) -> tuple[Prediction, ...]:
    """Return predictions of every launch that the source or the caller describes, on every GPU named.

    Launches come first, then GPUs; errors as :func:`predict`.
    """
    session = Session(
        source_of(source),
        options.get("gpu", "h200"),
        _compilation(options),
        _modelling(options),
        options.get("machine_code", False),
        options.get("advice", False),
        options.get("tell", note),
    )
    return session.run(_launch(options))


def source_of(source: Input) -> str | Source:
    """Return what a session reads: texts of several lines as they are, the rest as names of files."""
    if isinstance(source, str) and "\n" in source:
        return Source("kernel.cu", source.encode())
    return source if isinstance(source, Source) else os.fspath(source)


def _launch(options: Options) -> LaunchOptions:
    args = options.get("args")
    typed = args if isinstance(args, Mapping) else {}
    return LaunchOptions(
        options.get("kernel"),
        _dimensions(options.get("grid")),
        _dimensions(options.get("block")),
        _dimensions(options.get("cluster")),
        options.get("shared"),
        _texts(typed),
        _texts(options.get("loops", {})),
        None if args is None or isinstance(args, Mapping) else Path(args),
    )


def _compilation(options: Options) -> CompilationOptions:
    return CompilationOptions(
        _texts(options.get("define", {})),
        tuple(options.get("include", ())),
        options.get("toolkit", ""),
        options.get("maxrregcount"),
        tuple(options.get("flags", ())),
    )


def _modelling(options: Options) -> ModelOptions:
    model, clock, profile = options.get("model", ()), options.get("clock"), options.get("profile")
    return ModelOptions(
        (model,) if isinstance(model, str) else tuple(model),
        None if clock is None else str(clock),
        options.get("level"),
        Unknown(options.get("unknown", Unknown.ESTIMATE)),
        None if profile is None else Path(profile),
    )


def _dimensions(value: Dimensions | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else ",".join(str(int(extent)) for extent in value)


def _texts(values: Mapping[str, object] | Mapping[int, float]) -> tuple[str, ...]:
    """Return ``NAME=VALUE`` texts; booleans as C writes them, None for a name alone."""
    return tuple(str(name) if value is None else f"{name}={_word(value)}" for name, value in values.items())


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
