"""Resios' system (MSc thesis 2011): sequential, data-parallel loops in, a GPU prognosis out.

:mod:`~warpwatt.published.resios.c_loops` reads the loops. :mod:`~warpwatt.published.resios.prognosis` puts
the prognosis together from the closed forms of :mod:`~warpwatt.published.resios.equations` and the lock-step
simulation of :mod:`~warpwatt.published.resios.simulation`; :mod:`~warpwatt.published.resios.port` sets it
beside a prediction. Among the time models, :class:`~warpwatt.published.resios.model.Resios` stands for it
without loading any of these.
"""
