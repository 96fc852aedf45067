"""The fast engine: a routine becomes machine code once, then runs at native speed.

Public names: ``run(routine, context, memory, blocks, limits, *, record=False) -> Run``; ``Session``, which
does so several times for one launch; for others that need compiled loops,
:class:`~warpwatt.emulate.native.aot.Library`.
"""

from warpwatt.emulate.native.engine import Session, run

__all__ = ["Session", "run"]
