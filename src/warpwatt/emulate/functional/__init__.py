"""Whole grids computed, fast: what a launch leaves in device memory, and nothing else.

No counts, no traces: a routine becomes one optimised LLVM function that keeps registers in the processor's
(:mod:`~warpwatt.emulate.functional.text`), and blocks run on all cores.

Public names: ``execute(routine, context, memory, limits) -> Outcome``.
"""

from warpwatt.emulate.functional.engine import Outcome, execute

__all__ = ["Outcome", "execute"]
