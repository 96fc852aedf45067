"""The fast engine: a routine becomes machine code once, then runs at native speed.

Public names: ``run(routine, context, memory, blocks, limits, *, record=False) -> Run`` and, for others that
need compiled loops, :class:`~warpwatt.emulate.native.aot.Library`.
"""

from warpwatt.emulate.native.engine import run

__all__ = ["run"]
