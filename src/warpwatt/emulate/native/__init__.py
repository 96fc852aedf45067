"""The fast engine: a routine becomes machine code once, then runs at native speed.

Public names: ``run(routine, context, memory, blocks, limits, *, record=False) -> Run``; ``Session``, which
does so several times for one launch. The run time that the machine code calls is C++: ``native/emulate/``.
"""

from warpwatt.emulate.native.engine import Session, run

__all__ = ["Session", "run"]
