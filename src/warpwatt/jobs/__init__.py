"""Discrete-event simulation above single launches (Boughzala et al. 2020, sections V and VIII).

A list of jobs on nodes of GPUs (:mod:`.jobs`, :mod:`.platform`, :mod:`.costs`, :mod:`.schedule`,
:mod:`.simulation`), kernels of several streams on one GPU (:mod:`.sharing`), applications
(:mod:`.application`). The same simulation in SimGrid: :mod:`warpwatt.published.boughzala.simgrid`.
"""
