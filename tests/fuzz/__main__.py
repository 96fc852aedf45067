"""Feed loaders with changed files: ``python -m tests.fuzz [INPUTS [LOADER...]]``; what escapes, by place.

The inputs are shared out evenly among the loaders, and are the same for the same number. A file that takes
longer than :data:`HANG` seconds is an escape too.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.loaders import LOADERS, Loader
from tests.fuzz.mutations import mutated

if TYPE_CHECKING:
    from types import FrameType

HANG = 10.0
"""Seconds of processor time."""
INPUTS = 100_000
MEMORY = "/dev/shm"
"""Where files are written that nobody keeps, if it is there."""


class HangError(Exception):
    """A loader did not come to an end."""


def main(inputs: int = INPUTS, *names: str) -> int:
    """Print a line for each loader; return 1 if anything but a typed error came out."""
    chosen = [one for one in LOADERS if not names or one.name in names]
    escaped: Counter[str] = Counter()
    shown: dict[str, str] = {}
    signal.signal(signal.SIGVTALRM, _give_up)
    print(f"{'loader':15} {'inputs':>9} {'refused':>9} {'escaped':>9} {'slowest':>9} {'a second':>9}")
    with tempfile.TemporaryDirectory(dir=MEMORY if Path(MEMORY).is_dir() else None) as folder:
        for loader in chosen:
            fuzz(loader, Path(folder), inputs // len(chosen), escaped, shown)
    print(f"{inputs // len(chosen) * len(chosen)} inputs, {escaped.total()} escaped")
    for place, count in escaped.most_common():
        print(f"{count:6} {place}\n       {shown[place]}")
    return 1 if escaped else 0


def fuzz(loader: Loader, folder: Path, inputs: int, escaped: Counter[str], shown: dict[str, str]) -> None:
    """Feed one loader and print what came of it; times are of the processor."""
    random_, began, before = random.Random(loader.name), time.process_time(), escaped.total()
    refused, slowest = 0, 0.0
    for _ in range(inputs):
        data = mutated(random_.choice(loader.seeds), random_)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
        try:
            feed(loader, folder, data)
        except loader.errors:
            refused += 1
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{loader.name}: {type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
            escaped[place] += 1
            shown.setdefault(place, f"{str(error)[:100]} <- {data[:150]!r}")
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        slowest = max(slowest, time.process_time() - start)
    rate = inputs / (time.process_time() - began)
    own = escaped.total() - before
    print(f"{loader.name:15} {inputs:9} {refused:9} {own:9} {slowest:7.2f} s {rate:9.0f}", flush=True)


def _give_up(number: int, frame: FrameType | None) -> None:
    raise HangError(f"signal {number} at {frame}")


def feed(loader: Loader, folder: Path, data: bytes) -> None:
    """Have a loader read some bytes."""
    place = folder / loader.name
    place.mkdir(exist_ok=True)
    file = place / f"file{loader.suffix}"
    file.write_bytes(data)
    loader.read(file)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else INPUTS, *sys.argv[2:]))
