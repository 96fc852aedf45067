"""Check random kernels and print how many break which property."""

from __future__ import annotations

import sys
from collections import Counter

from tests.properties.checking import check


def main(cases: int = 1000, first: int = 0) -> int:
    """Check so many cases from a seed on; return 1 if one fails."""
    checked, failed = Counter[str](), Counter[str]()
    for name, failure in check(range(first, first + 100 * cases)):
        checked[name] += 1
        if failure is not None:
            failed[name] += 1
            print(f"seed {failure.seed} on {failure.gpu}: {name}\n  {failure.text}", flush=True)
        if checked.total() >= cases:
            break
    for name, count in checked.items():
        print(f"{failed[name]:>4} of {count:>4}: {name}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
