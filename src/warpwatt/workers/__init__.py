"""Processes that work for others: confined, limited, ended in time. They know nothing of what the work is.

:mod:`.pool` starts and ends them, :mod:`.child` is what runs in them, :mod:`.confinement` their walls,
:mod:`.limits` what they may cost; :mod:`.processes` and :mod:`.trees` end a process with all it has started.
"""
