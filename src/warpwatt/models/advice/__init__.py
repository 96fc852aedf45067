"""What would help: the troubles of a launch taken away one at a time, and the launch predicted again.

Public names: ``what_ifs(case, model, timing) -> tuple[WhatIf, ...]`` and ``changes(case) -> tuple[Change, ...]``. A
change is a :class:`~warpwatt.core.case.Case` without one trouble, so that every time and power model can say
what it saves: :mod:`.coalescing` (of off-chip accesses, of shared memory's banks), :mod:`.divergence`,
:mod:`.seats` (more resident warps), :mod:`.chains` (more independent work per warp), :mod:`.traffic` (spills,
bytes fetched twice, atomics on one address), :mod:`.arithmetic` (double precision, special functions),
:mod:`.tail` (whole waves of blocks). :mod:`.edit` and :mod:`.removal` hold what they share.
"""

from warpwatt.models.advice.whatif import changes, what_ifs

__all__ = ["changes", "what_ifs"]
