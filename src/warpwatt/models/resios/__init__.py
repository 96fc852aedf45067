"""Resios' system (MSc thesis 2011): sequential, data-parallel loops in, a GPU prognosis out.

Public names: :func:`prognose`, :class:`Prognosis`. :mod:`~warpwatt.models.resios.equations` holds the closed
forms, :mod:`~warpwatt.models.resios.simulation` the lock-step simulation, and
:class:`~warpwatt.models.resios.model.Resios` its place in the registry of time models.
"""

from warpwatt.models.resios.prognosis import Prognosis, prognose

__all__ = ["Prognosis", "prognose"]
