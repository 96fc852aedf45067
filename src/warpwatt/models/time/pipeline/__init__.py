"""The ``pipeline`` time model: one SM simulated over the compiler's own schedule, then the whole chip.

Public names: ``Pipeline`` (the model), ``warp_streams(routine, run, warps_per_block) -> WarpStreams`` (its
input from an emulator's traced run; put it into ``Execution.streams``), ``what_ifs(case)``.

From data to time: :mod:`.table` lowers a program to an instruction table for a :mod:`.machine`,
:mod:`.streams` lowers a trace, :mod:`.shorten` leaves out iterations of long loops, :mod:`.simulator` runs
the warps of one SM (compiled by :mod:`.native`), :mod:`.chip` makes a launch of it, :mod:`.model` a
:class:`~warpwatt.core.case.Timing`.
"""

from warpwatt.models.time.pipeline.model import Pipeline, what_ifs
from warpwatt.models.time.pipeline.streams import warp_streams

__all__ = ["Pipeline", "warp_streams", "what_ifs"]
