"""The same simulation in SimGrid, where that is installed: ``apt-get install python3-simgrid``.

It belongs to the system's Python, so a worker script runs there as a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import ToolchainError
from warpwatt.jobs.hosts import Outcome
from warpwatt.published.boughzala.platform_xml import platform_xml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    """Return the Python that has SimGrid, None where none is found."""
    named = os.environ.get(VARIABLE)
    candidates = [named] if named else ["/usr/bin/python3", shutil.which("python3")]
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
        answer = _call([python, "-I", str(_WORKER)], asked, RUN_SECONDS)
    if answer is None or answer.returncode:
        details = answer.stderr[-2000:] if answer else ""
        raise ToolchainError("SimGrid failed", hint="--engine own does without", details=details)
    found = json.loads(answer.stdout)
    return Outcome(found["clock"], found["energy"], found["ends"])


def _has_simgrid(python: str) -> bool:
    answer = _call([python, "-I", "-c", "import simgrid"], "", PROBE_SECONDS)
    return answer is not None and answer.returncode == 0


def _call(command: list[str], text: str, seconds: int) -> subprocess.CompletedProcess[str] | None:
    """Return the ended process, None if it could not be started or did not end."""
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
