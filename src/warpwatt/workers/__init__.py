"""Processes that work for others: confined, limited, ended in time. They know nothing of what the work is.

:mod:`.process` starts one with a pipe and ends it, :mod:`.family` is all that it has started. On these,
:mod:`.pool` keeps a number of them behind a queue, :mod:`.child` is what runs in them, :mod:`.confinement`
their walls, :mod:`.limits` what they may cost.
"""
