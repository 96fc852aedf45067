"""Sweeps: kernels and applications in many configurations, on many GPUs, at many clocks.

:mod:`.sweep` says which points there are, :mod:`.run` predicts them in this process, :mod:`.pool` in several,
:mod:`.cluster` on several machines; :mod:`.rows` is what comes of them, :mod:`.journal` keeps it on disk.
"""
