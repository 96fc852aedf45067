"""One request, one process: what untrusted clients send is compiled, emulated and predicted behind walls.

:mod:`~warpwatt.workers.pool` starts processes and ends them, :mod:`~warpwatt.workers.child` is
what runs in them, :mod:`~warpwatt.workers.confinement` their walls, and
:mod:`~warpwatt.server.tasks.tasks` what they are asked to do.
"""

TASKS = "warpwatt.server.tasks.tasks"
PRELOAD = "warpwatt.server.tasks.preload"
"""Modules that a pool of workers needs by name: it forks before anything of them is loaded here."""
