"""What would help: the troubles of a launch taken away one at a time, and the launch predicted again.

Public names: ``changes(case) -> tuple[Change, ...]``, ``what_ifs(...) -> tuple[WhatIf, ...]`` and
``unless_it_fails``. A change is a :class:`~warpwatt.core.case.Case` without one trouble, so that every time
and power model can say what it saves. Kinds: :mod:`.coalescing` (of off-chip accesses, of shared memory's
banks), :mod:`.divergence`, :mod:`.residency` (more resident warps, whole waves of blocks), :mod:`.chains`
(more independent work per warp), :mod:`.traffic` (values kept in registers, spills, bytes fetched twice,
atomics on one address), :mod:`.tiling` (what a block shares, through shared memory), :mod:`.arithmetic`
(double precision, special functions). They share :mod:`.edit` and :mod:`.removal`; :mod:`.whatif` tries them
all.
"""

from warpwatt.what_if.whatif import changes, unless_it_fails, what_ifs

__all__ = ["changes", "unless_it_fails", "what_ifs"]
