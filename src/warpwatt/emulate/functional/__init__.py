"""Whole grids computed, fast: what a launch leaves in device memory, and nothing else.

No counts, no traces: a routine becomes one optimised LLVM function that keeps registers in the processor's
(:mod:`~warpwatt.emulate.functional.text`), and blocks run on all cores.

Public names: ``execute(routine, context, memory, limits) -> Outcome``; ``routine_of(kernel) -> Routine``, the
form of a kernel to execute.
"""

from warpwatt.emulate.functional.choice import routine_of
from warpwatt.emulate.functional.engine import Outcome, execute

__all__ = ["Outcome", "execute", "routine_of"]
