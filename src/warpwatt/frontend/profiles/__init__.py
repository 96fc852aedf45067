"""Measured launches from CSV files: nvprof, Nsight Systems, Nsight Compute, or a table of one's own.

Public names: ``read_profiles(path, gpu) -> tuple[Profile, ...]``, ``choose(profiles, kernel, launch, gpu)``,
``of_kernel(profiles, kernel)``.
From bytes to profiles: :mod:`.cells` reads numbers and units, :mod:`.columns` knows what columns are called,
:mod:`.table` finds the table in the file, :mod:`.reading` makes profiles of it, :mod:`.choice` picks one.

A table of one's own has a header line and the columns ``grid``, ``block`` and ``duration_us`` (or ``_s``,
``_ms``, ``_ns``); more if wanted: ``kernel``, ``shared`` (bytes), ``gpu``, ``sm_mhz``, ``memory_mhz``,
``power_w``, ``arg:NAME`` for a kernel argument, and any counter under its own name. Several rows of one
launch are repeats of it. WarpWatt's own CSV is read too, and its times are taken for what they are: modelled.
"""

from warpwatt.frontend.profiles.choice import choose, of_kernel
from warpwatt.frontend.profiles.reading import read_profiles

__all__ = ["choose", "of_kernel", "read_profiles"]
