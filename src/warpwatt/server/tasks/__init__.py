"""One request, one process: what strangers send is compiled, emulated and predicted behind walls.

:mod:`~warpwatt.workers.pool` starts processes and ends them, :mod:`~warpwatt.workers.child` is
what runs in them, :mod:`~warpwatt.workers.confinement` their walls, and
:mod:`~warpwatt.server.tasks.tasks` what they are asked to do.
"""
