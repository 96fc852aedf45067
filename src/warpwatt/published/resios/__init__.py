"""Resios' system (MSc thesis 2011): sequential, data-parallel loops in, a GPU prognosis out.

Public names: :func:`prognose`, :class:`Prognosis`. :mod:`~warpwatt.published.resios.equations` holds the
closed forms, :mod:`~warpwatt.published.resios.simulation` the lock-step simulation, and
:class:`~warpwatt.published.resios.model.Resios` its place in the registry of time models.
"""

from warpwatt.published.resios.prognosis import Prognosis, prognose

__all__ = ["Prognosis", "prognose"]
