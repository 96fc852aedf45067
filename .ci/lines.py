"""Print the lines of each room, and fail where there are more than its ceiling in ``lines.toml``.

A room is a folder of ``src/warpwatt``, or ``native/`` with its tests. ``--write`` makes today's lines the
ceilings: after rooms were moved, or where more lines are worth it and the commit says why.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CEILINGS = Path(__file__).with_name("lines.toml")
PACKAGE = ROOT / "src" / "warpwatt"
NATIVE = "native C++"


def count_lines() -> tuple[Counter[str], Counter[str]]:
    """Return the lines and the files of each room; modules beside the rooms count as one, ``.``."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    sources = [(path, path.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("*.py")]
    native = ROOT / "native"
    sources += [(path, (NATIVE, "")) for ending in ("h", "cpp") for path in native.rglob(f"*.{ending}")]
    for path, parts in sources:
        room = parts[0] if len(parts) > 1 else "."
        lines[room] += len(path.read_text(encoding="utf-8").splitlines())
        files[room] += 1
    return lines, files


def main() -> int:
    """Print the table; return 1 if a room has outgrown its ceiling."""
    lines, files = count_lines()
    if "--write" in sys.argv[1:]:
        CEILINGS.write_text("".join(f'"{room}" = {lines[room]}\n' for room in sorted(lines)))
    ceilings = tomllib.loads(CEILINGS.read_text())
    print(f"{'room':<14}{'lines':>7}{'ceiling':>9}{'files':>7}")
    for room, count in lines.most_common():
        print(f"{room:<14}{count:>7}{ceilings.get(room, 0):>9}{files[room]:>7}")
    python = lines.total() - lines[NATIVE]
    print(f"{'src/warpwatt':<14}{python:>7}{sum(ceilings.values()) - ceilings.get(NATIVE, 0):>9}")
    outgrown = [room for room in lines if lines[room] > ceilings.get(room, 0)]
    if outgrown:
        print(f"more lines than the ceiling: {', '.join(outgrown)}; python .ci/lines.py --write raises it")
    return bool(outgrown)


if __name__ == "__main__":
    sys.exit(main())
