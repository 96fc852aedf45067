"""A public suite of sequential C (PolyBench/C): to verdicts, and to CUDA that computes the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.compose import Choice
from warpwatt.core.errors import WarpWattError
from warpwatt.core.units import si
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find
from warpwatt.published.resios.c_loops import read_function
from warpwatt.published.resios.port import Request, check, port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warpwatt.published.resios.c_loops import Function
    from warpwatt.published.resios.port import Port

GPU = "h200"
SMALL, LARGE = "MINI_DATASET", "LARGE_DATASET"


@dataclass(frozen=True, slots=True)
class Row:
    """One program: what the front end says, the check on the small data set, the large one's times."""

    name: str
    outcome: str
    equal: str = ""
    sequential: str = ""
    resios: str = ""
    model: str = ""
    speedup: str = ""
    verdict: str = ""


def rows(folder: Path) -> Iterator[Row]:
    """Yield every program of a checkout."""
    for path in sorted(folder.glob("*/**/*.c")):
        if "utilities" not in path.parts and "." not in path.stem:
            yield row(path, folder)


def row(path: Path, folder: Path) -> Row:
    """Return one program's row."""
    source = read_source(path)
    try:
        small = _port(path, folder, SMALL, Choice(time="resios"), run=False)
        agreed = check(source, small, _options(folder, SMALL))
        large = _port(path, folder, LARGE, Choice(), run=True)
    except WarpWattError as error:
        return Row(path.stem, f"line {error.line}: {error.message}" if error.line else error.message)
    exact = all(one.exact for one in agreed)
    worst = max(one.relative for one in agreed)
    seconds = large.sequential.seconds
    model, speedup = large.model, large.speedup(large.costs)
    return Row(
        path.stem,
        "; ".join(_threads(nest.mapping.loops) for nest in large.nests),
        "to the last bit" if exact else f"within {worst:.1g}",
        "unknown" if seconds is None else si(seconds, "s"),
        si(large.resios.kernels.value, "s"),
        "" if model is None else si(model.kernels.value, "s"),
        "" if speedup is None or model is None or seconds is None else
        f"{speedup:.3g} / {seconds / model.warm.value:.3g} / {seconds / model.resident.value:.3g}",
        large.verdict.name.lower(),
    )  # fmt: skip


def _threads(loops: tuple[object, ...]) -> str:
    return " × ".join(loop.loop.variable.name for loop in loops)  # type: ignore[attr-defined]


def _options(folder: Path, size: str) -> CompileOptions:
    return CompileOptions(include=(str(folder / "utilities"),), defines=(size,))


def _port(path: Path, folder: Path, size: str, choice: Choice, *, run: bool) -> Port:
    source, options = read_source(path), _options(folder, size)
    function = read_function(source, "kernel_", options)
    request = Request(_sizes(function), function="kernel_", options=options, assume_no_alias=True, run=run)
    return port(source, find(GPU), request, choice=choice)


def _sizes(function: Function) -> dict[str, int | float]:
    """Return sizes: the extents of the arrays that name them, as PolyBench passes the same twice."""
    from warpwatt.published.resios.c_loops.statements import constant

    extents = [constant(e) for a in function.arrays for e in a.extents if e is not None]
    least = min((e for e in extents if e is not None), default=1)
    return {s.name: 1.25 if s.type.floating else least for s in function.scalars}
