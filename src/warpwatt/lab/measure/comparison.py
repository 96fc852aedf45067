"""Whether the buffers a program left behind are what its reference says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Buffer, DType
from warpwatt.core.errors import InputError
from warpwatt.lab.measure.corpus import buffers, reference
from warpwatt.lab.measure.inputs import call_checked, from_bf16

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.lab.measure.corpus import CorpusProgram

TOLERANCES = {DType.F16: 1e-2, DType.BF16: 3e-2, DType.F32: 1e-4, DType.F64: 1e-10}
"""Relative tolerance by element type where the manifest names none; integers are compared exactly."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A buffer that is not what it should be.

    ``error`` is the largest relative error, NaN where only one side is a number; ``first`` is the flat
    index of the first wrong element, ``wrong`` how many there are.
    """

    buffer: str
    wrong: int
    elements: int
    error: float
    first: int
    found: float
    expected: float

    def __str__(self) -> str:
        return (
            f"{self.buffer}: {self.wrong} of {self.elements} wrong, relative error up to {self.error:.3g}, "
            f"first at {self.first}: {self.found!r} instead of {self.expected!r}"
        )


def run_reference(program: CorpusProgram, size: str, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the buffers that the launches change, by name, as the reference says.

    Raises
    ------
    InputError
        If the reference fails, or returns something else than buffers of the right type and size.
    """
    function, chosen = reference(program), program.size(size)
    return call_checked("reference()", function, program, chosen, inputs, InputError)


def find_mismatches(
    program: CorpusProgram,
    size: str,
    inputs: Mapping[str, Any],
    wanted: Mapping[str, NDArray[Any]],
    found: Mapping[str, NDArray[Any]],
) -> tuple[Mismatch, ...]:
    """Compare the buffers in ``found`` with ``wanted``; those it lacks must be as in ``inputs``."""
    pairs = (
        (name, buffer, found[name], wanted.get(name, inputs[name]))
        for name, buffer in buffers(program.size(size))
        if name in found
    )
    results = (compare(name, b, got, want, program.tolerance) for name, b, got, want in pairs)
    return tuple(result for result in results if result is not None)


def compare(
    name: str, buffer: Buffer, found: NDArray[Any], expected: NDArray[Any], tolerance: float | None = None
) -> Mismatch | None:
    """Return how two arrays differ, or None where they agree.

    The error of an element is relative to its expected magnitude plus the buffer's mean magnitude, so that
    cancellation near zero is no failure. NaN agrees with NaN; integers and tolerance 0 mean equality.
    """
    if _are_same_bytes(found, expected):
        return None
    got, want = (_values(array, buffer.dtype) for array in (found, expected))
    errors = _errors(got, want)
    allowed = 0.0
    if buffer.dtype in TOLERANCES:
        allowed = TOLERANCES[buffer.dtype] if tolerance is None else tolerance
    wrong = np.flatnonzero(~(errors <= allowed))
    if not wrong.size:
        return None
    first = int(wrong[0])
    worst = float(np.max(errors[wrong]))
    return Mismatch(name, wrong.size, got.size, worst, first, got[first].item(), want[first].item())


def _are_same_bytes(found: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Whether no closer look is needed; a tenth of its cost, and most buffers are inputs."""
    first, second = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (found, expected))
    return np.array_equal(first, second)


def _values(array: NDArray[Any], dtype: DType) -> NDArray[Any]:
    flat = array.ravel()
    if dtype is DType.BF16:
        return from_bf16(flat).astype(np.float64)
    return flat.astype(np.float64) if dtype in TOLERANCES else flat


def _errors(got: NDArray[Any], want: NDArray[Any]) -> NDArray[np.float64]:
    """Relative error of each element; NaN where just one side is NaN or infinite."""
    equal = got == want
    if not np.issubdtype(want.dtype, np.floating):
        return np.where(equal, 0.0, np.inf)
    equal |= np.isnan(got) & np.isnan(want)
    finite = np.abs(want[np.isfinite(want)])
    scale = np.abs(want) + (finite.mean() if finite.size else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(got - want) / scale
    errors[~np.isfinite(got) | ~np.isfinite(want)] = np.nan
    return np.where(equal, 0.0, errors)
