"""Sector distances access by access, compiled ahead of time: what ``distance`` says, but fast.

A Fenwick tree over the places of a stream holds the weight of each line at its last use, so that the weight
of the lines used since is a difference of two prefix sums (Olken, "Efficient methods for calculating the
success function of fixed space replacement policies", 1981).
"""

from __future__ import annotations

from warpwatt.emulate.native.pointers import bytes_at, f64_at, i64_at

COLD = 1e300
"""Distance of a first use."""


def prefix(tree: int, place: int) -> float:
    """Return the sum of places 0 to ``place`` (exclusive)."""
    cells = f64_at(tree, place + 1)
    total = 0.0
    while place > 0:
        total += cells[place]
        place &= place - 1
    return total


def add(tree: int, size: int, place: int, weight: float) -> None:
    """Add to one place."""
    cells = f64_at(tree, size + 1)
    place += 1
    while place <= size:
        cells[place] += weight
        place += place & -place


def measure(
    size: int, number: int, marks: int, weights: int, last: int, tree: int, peak: int, result: int
) -> int:
    """Fill ``result`` (``size`` × 4 doubles) with distances of sectors, negative where not touched.

    Parameters
    ----------
    number, weights
        ``int64``: a small number for each access's line; ``double``: what it counts.
    marks
        A byte per access: the touched sectors, and 16 where it leaves them readable.
    last, tree, peak
        Room: ``int64`` per line, filled with -1; ``size`` + 1 doubles of zero; four doubles per line.
    """
    lines, mark, weight = i64_at(number, size), bytes_at(marks, size), f64_at(weights, size)
    for i in range(size):
        line = lines[i]
        used = i64_at(last, line + 1)
        far = COLD
        if used[line] >= 0:
            far = prefix(tree, i) - prefix(tree, used[line] + 1)
            add(tree, size, used[line], -weight[i])
        add(tree, size, i, weight[i])
        used[line] = i
        peaks, out = f64_at(peak + line * 32, 4), f64_at(result + i * 32, 4)
        for sector in range(4):
            peaks[sector] = max(peaks[sector], far)
            out[sector] = -1.0
            if mark[i] >> sector & 1:
                out[sector] = peaks[sector]
                if mark[i] & 16:
                    peaks[sector] = 0.0
    return 0
