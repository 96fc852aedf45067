"""What is above single launches: applications, streams and lists of jobs on nodes of GPUs.

An application on one GPU (:mod:`.application`), kernels of several of its streams at once (:mod:`.sharing`),
and discrete-event simulation of a list of jobs (Boughzala et al. 2020, sections V and VIII): :mod:`.jobs`
(and their costs), :mod:`.platform`, :mod:`.schedule`, :mod:`.simulation`, :mod:`.hosts`.
:mod:`warpwatt.published.boughzala.simgrid` does the same in SimGrid.
"""
