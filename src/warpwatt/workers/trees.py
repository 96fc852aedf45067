"""Ending processes together with what they have started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil


def stop_tree(root: psutil.Process, *, whole: bool) -> dict[int, psutil.Process]:
    """Stop the descendants of a process, and itself if ``whole``; return them by number.

    A stopped process starts no more: looked for until no new one is found, none is left out.
    """
    stopped: dict[int, psutil.Process] = {}
    with suppress(psutil.Error):
        while True:
            found = [root] if whole else []
            new = [p for p in [*found, *root.children(recursive=True)] if p.pid not in stopped]
            if not new:
                break
            for process in new:
                stopped[process.pid] = process
                with suppress(psutil.Error):
                    process.suspend()
    return stopped


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants."""
    with suppress(psutil.Error):
        _kill(stop_tree(psutil.Process(pid), whole=True))


def end_with_descendants(status: int) -> None:
    """End this process and its descendants at once; nothing is cleaned up."""
    stopped = stop_tree(psutil.Process(), whole=False)
    _kill(stopped)  # and no other thread of ours gets to run before the next line
    os._exit(status)


def _kill(processes: dict[int, psutil.Process]) -> None:
    for pid in processes:
        with suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
