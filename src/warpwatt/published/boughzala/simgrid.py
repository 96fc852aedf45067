"""SimGrid: the simulation of ``warpwatt simulate`` in it, where it is installed.

It may be in the Python that runs WarpWatt, or, by ``apt-get install python3-simgrid``, in the system's: a
worker script runs in a process of its own, in the first Python that finds it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import ToolchainError
from warpwatt.jobs.hosts import Outcome
from warpwatt.published.boughzala.platform_file import platform_xml

if TYPE_CHECKING:
    from warpwatt.jobs.hosts import Host

    Task = tuple[float, int, float, int]

VARIABLE = "WARPWATT_SIMGRID_PYTHON"
"""Environment variable that names an interpreter with SimGrid."""
HOW = f"apt-get install python3-simgrid, or name a Python that has it in {VARIABLE}; --engine own needs none"
PROBE_SECONDS = 60
RUN_SECONDS = 3600
_WORKER = Path(__file__).with_name("simgrid_worker.py")


@lru_cache(maxsize=1)
def interpreter() -> str | None:
    """Return the first Python that has SimGrid: our own, the path's, the system's; None where none has.

    PYTHONPATH and the user's own packages count, as in any Python.
    """
    named = os.environ.get(VARIABLE)
    candidates = [named] if named else [sys.executable, shutil.which("python3"), "/usr/bin/python3"]
    return next((path for path in dict.fromkeys(candidates) if path and _has_simgrid(path)), None)


def run(hosts: Sequence[Host], tasks: Mapping[str, Sequence[Task]]) -> Outcome:
    """Return what SimGrid makes of hosts and their tasks (arrival, state, flops, times).

    Raises
    ------
    ToolchainError
        If SimGrid is not installed or fails.
    """
    python = interpreter()
    if python is None:
        raise ToolchainError("SimGrid is not found", hint=HOW)
    with tempfile.TemporaryDirectory() as folder:
        platform = Path(folder) / "platform.xml"
        platform.write_text(platform_xml(hosts), encoding="utf-8")
        asked = json.dumps({"platform": str(platform), "hosts": tasks})
        answer = _run_code(python, _WORKER.read_text(encoding="utf-8"), asked, RUN_SECONDS)
    if answer is None or answer.returncode:
        details = answer.stderr[-2000:] if answer else ""
        raise ToolchainError("SimGrid failed", hint="--engine own does without", details=details)
    found = json.loads(answer.stdout)
    return Outcome(found["clock"], found["energy"], found["ends"])


def _has_simgrid(python: str) -> bool:
    answer = _run_code(python, "import simgrid", "", PROBE_SECONDS)
    return answer is not None and answer.returncode == 0


def _run_code(python: str, code: str, text: str, seconds: int) -> subprocess.CompletedProcess[str] | None:
    """Return the ended process, None if it could not be started or did not end.

    It runs in an empty folder: code finds neither this module, which is called like SimGrid's, nor files of
    the folder that the user is in.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run(
                [python, "-c", code], input=text, capture_output=True, text=True, timeout=seconds,
                check=False, cwd=folder,
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
