"""Feed loaders with changed files: ``python -m tests.fuzz [SECONDS] [LOADER...]``; what escapes, by place."""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.loaders import LOADERS, Loader
from tests.fuzz.mutations import mutated

SLOW = 5.0
"""Seconds after which a file counts as one that hangs."""


def main(seconds: float = 60.0, *names: str) -> int:
    """Print a line for each loader; return 1 if anything but a typed error came out."""
    chosen = [one for one in LOADERS if not names or one.name in names]
    escaped: Counter[str] = Counter()
    shown: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for loader in chosen:
            count, refused, slow = fuzz(loader, Path(folder), seconds / len(chosen), escaped, shown)
            print(f"{loader.name:15} {count:8} files, {refused} refused, {slow} slow", flush=True)
    for place, count in escaped.most_common():
        print(f"{count:6} {place}\n       {shown[place]}")
    return 1 if escaped else 0


def fuzz(
    loader: Loader, folder: Path, seconds: float, escaped: Counter[str], shown: dict[str, str]
) -> tuple[int, int, int]:
    """Feed one loader; return files, typed refusals, and files that took longer than :data:`SLOW`."""
    random_, end = random.Random(loader.name), time.monotonic() + seconds
    count = refused = slow = 0
    while (start := time.monotonic()) < end:
        data = mutated(random_.choice(loader.seeds), random_)
        count += 1
        try:
            feed(loader, folder, data)
        except loader.errors:
            refused += 1
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{loader.name}: {type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
            escaped[place] += 1
            shown.setdefault(place, f"{str(error)[:100]} <- {data[:150]!r}")
        slow += time.monotonic() - start > SLOW
    return count, refused, slow


def feed(loader: Loader, folder: Path, data: bytes) -> None:
    """Have a loader read some bytes."""
    place = folder / loader.name
    place.mkdir(exist_ok=True)
    file = place / f"file{loader.suffix}"
    file.write_bytes(data)
    loader.read(file)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, *sys.argv[2:]))
