"""SimGrid: its platform files, and the simulation of ``warpwatt simulate`` in it where it is installed.

It may be in the Python that runs WarpWatt, or, by ``apt-get install python3-simgrid``, in the system's: a
worker script runs in a process of its own, in the first Python that finds it. Platform files follow Figure 3
of Boughzala et al. (2020): GPUs are hosts of one core. A GPU's speed depends on what it runs, so every kind
of work has a state (SimGrid's *pstate*) of its own, with its speed and power; other clocks of the same work
are further states. One flop stands for one thread: then the platform of the paper's Figure 3 comes out for
its kernel, 14 blocks of 1024 threads in a round, and other sizes of the kernel are other amounts on the same
state. Work known by its seconds alone counts them in :data:`~warpwatt.jobs.hosts.FLOPS_PER_SECOND`.
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
from xml.sax.saxutils import quoteattr

from warpwatt.core.errors import ToolchainError
from warpwatt.jobs.hosts import Host, Outcome, State

if TYPE_CHECKING:
    from warpwatt.jobs.hosts import Host

    Task = tuple[float, int, float, int]
    from warpwatt.published.boughzala import BlockModel


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


_HEAD = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


def block_state(model: BlockModel, threads_per_block: int) -> State:
    """Return the state of a kernel from its block model: speed in threads per second, P_s and P_r.

    >>> from warpwatt.published.boughzala import Form, Sample, fit
    >>> runs = [Sample(n, n * 0.30003, 153.65) for n in (14, 28, 140)]
    >>> state = block_state(fit(runs, 14, 29.4, Form.ROUNDS), 1024)
    >>> round(state.speed), state.idle_watts, round(state.busy_watts, 2)
    (3413, 29.4, 153.65)
    """
    speed = threads_per_block / model.seconds_per_block
    return State(speed, model.static_watts, model.round_watts)


def platform_xml(hosts: Sequence[Host]) -> str:
    """Return the platform file.

    >>> print(platform_xml([Host("GPU", (State(3413.0, 29.4, 153.65),), off_watts=10.0)]))
    <?xml version='1.0'?>
    <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
    <platform version="4.1">
      <zone id="AS0" routing="Full">
        <host id="GPU" speed="3413f" core="1">
          <prop id="wattage_per_state" value="29.4:153.65"/>
          <prop id="wattage_off" value="10"/>
        </host>
      </zone>
    </platform>
    <BLANKLINE>
    """
    body = "".join(_host(host) for host in hosts)
    return f'{_HEAD}  <zone id="AS0" routing="Full">\n{body}  </zone>\n</platform>\n'


def _host(host: Host) -> str:
    speeds = ",".join(f"{_number(state.speed)}f" for state in host.states)
    watts = ",".join(f"{_number(state.idle_watts)}:{_number(state.busy_watts)}" for state in host.states)
    notes = "".join(
        f"      <!-- state {i}: {state.what.replace('--', '- -')} -->\n"
        for i, state in enumerate(host.states)
        if state.what
    )
    return (
        f'    <host id={quoteattr(host.name)} speed="{speeds}" core="1">\n{notes}'
        f'      <prop id="wattage_per_state" value="{watts}"/>\n'
        f'      <prop id="wattage_off" value="{_number(host.off_watts)}"/>\n'
        "    </host>\n"
    )


def _number(value: float) -> str:
    """Return a number as SimGrid reads it: as short as it can be without losing what matters."""
    return f"{value:.12g}"
