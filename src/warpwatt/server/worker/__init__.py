"""One request, one process: what strangers send is compiled, emulated and predicted behind walls.

:mod:`~warpwatt.server.worker.pool` starts processes and ends them, :mod:`~warpwatt.server.worker.child` is
what runs in them, :mod:`~warpwatt.server.worker.confinement` their walls, and
:mod:`~warpwatt.server.worker.tasks` what they are asked to do.
"""
