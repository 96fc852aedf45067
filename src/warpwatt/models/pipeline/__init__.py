"""The ``pipeline`` time model: one SM simulated over the compiler's own schedule, then the whole chip.

Public name: ``Pipeline``. Needs ``Execution.streams``.

From data to time: :mod:`.table` lowers a program to an instruction table for a :mod:`.machine`,
:mod:`.streams` prices a trace's accesses, :mod:`.shorten` leaves out iterations of long loops.
:mod:`.simulator` hands them to the native core, which runs the warps of one SM. :mod:`.chip` makes a launch
of it, :mod:`.model` a :class:`~warpwatt.core.case.Timing`.
"""

from warpwatt.models.pipeline.model import Pipeline

__all__ = ["Pipeline"]
