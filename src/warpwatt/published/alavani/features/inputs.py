"""The features as the inputs of a trained model: those of the case's PTX, in the convention of its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warpwatt.models.memo import at_any_clock
from warpwatt.published.alavani.features.launches import LaunchFeatures, launch_features
from warpwatt.published.alavani.features.values import NAMES, Convention

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.core.case import Case, Timing

SYNONYMS = {"gridsize": "grid_size", "blocksize": "block_size", "regs": "reg_thread", "n_blocks": "grid_size"}
"""Names that other public tables have for the same columns."""
_KNOWN = frozenset({*NAMES, "total_inst"})


def inputs(
    names: Sequence[str],
    case: Case,
    timing: Timing | None,  # noqa: ARG001 - as all sources
    card: Mapping[str, Any],
) -> dict[str, float | None]:
    """Return those of ``names`` that Table 5.4 has, None where nobody measured what they need on this GPU.

    Raises
    ------
    InputError, ArgumentError, UnsupportedGpuError
        As :func:`~warpwatt.published.alavani.features.launches.launch_features`.
    """
    wanted = {name: SYNONYMS.get(name, name) for name in names}
    if not any(feature in _KNOWN for feature in wanted.values()):
        return {}
    convention = Convention(card.get("data", {}).get("convention") or Convention.THESIS)
    found = case_features(convention)(case).features
    return {name: getattr(found, feature) for name, feature in wanted.items() if feature in _KNOWN}


@lru_cache(maxsize=2)
def case_features(convention: Convention) -> Callable[[Case], LaunchFeatures]:
    """Return a function that gives a case's features in a convention, and remembers them."""

    @at_any_clock
    def compute(case: Case) -> LaunchFeatures:
        return launch_features(case.kernel, case.launch, case.gpu, convention, _loop_counts(case))

    return compute


def _loop_counts(case: Case) -> tuple[tuple[int, float], ...]:
    """Return the iterations of loops that the case's analysis could not find out, by source line."""
    loops = case.workload.execution.loops
    return tuple((loop.line.line, loop.trips) for loop in loops if not loop.known and loop.line is not None)
