"""What training costs: processor time, and memory in a process of its own (thesis Table 5.10)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.lab.learn.errors import DataError

if TYPE_CHECKING:
    from warpwatt.lab.learn.samples import Samples

_KIB = 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of one training (s), the process's peak memory and what training added to it (bytes).

    Zero bytes: not measured, on systems other than Linux.
    """

    train_s: float
    peak_bytes: int
    added_bytes: int


def cost(path: Path, name: str, target: str = "power") -> Cost:
    """Return the cost of training a regressor on a file's rows, measured in a fresh process.

    Raises
    ------
    DataError
        If that process fails; ``details`` holds what it wrote.
    """
    command = [sys.executable, "-P", "-m", "warpwatt.published.alavani.study.cost", str(path), name, target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DataError(f"training {name} failed", file=path, details=done.stderr)
    return Cost(**json.loads(done.stdout))


def measure(samples: Samples, name: str) -> Cost:
    """Return the cost of training in this process; its memory counts whatever was loaded before."""
    from warpwatt.lab.learn.regressors import fit, regressor

    one = regressor(name)
    fit(one, samples.x[:50], samples.y[:50], 0)  # loads the libraries, which are no cost of training
    before = _status("VmRSS")
    start = time.process_time()
    fit(one, samples.x, samples.y, 0)
    train_s = time.process_time() - start
    peak = _status("VmHWM")
    return Cost(train_s, peak, max(0, peak - before))


def _status(field: str) -> int:
    """Return a field of this process's memory in bytes; getrusage's peak would include the parent's."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0  # no such file outside Linux: memory is not measured there
    return next(int(line.split()[1]) * _KIB for line in lines if line.startswith(f"{field}:"))


def main() -> None:
    """Print the cost of training ``NAME`` on ``FILE`` as JSON."""
    from warpwatt.lab.learn.samples import load

    path, name, target = sys.argv[1:]
    sys.stdout.write(json.dumps(asdict(measure(load(Path(path), target), name))))


if __name__ == "__main__":
    main()
