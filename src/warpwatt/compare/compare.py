"""Two predictions to a :class:`~warpwatt.core.comparison.Comparison`, two lists of them to a set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwatt.compare.figures import figures, line_figures
from warpwatt.compare.lines import match_lines
from warpwatt.compare.pairs import pair
from warpwatt.core.comparison import Comparison, ComparisonSet, LineChange, LineStatus, QuantityChange
from warpwatt.core.estimate import Estimate
from warpwatt.core.prediction import LineCost, Prediction

Place = tuple[str, int]
"""File and line."""
EXACT_ZERO = 0.0


def compare_all(
    old: str,
    new: str,
    olds: Sequence[Prediction],
    news: Sequence[Prediction],
    *,
    remarks: Iterable[str] = (),
    names: Mapping[str, str] | None = None,
) -> ComparisonSet:
    """Return what changed between two sides that are called ``old`` and ``new``, kernel by kernel.

    ``names`` says what files are called that lie elsewhere, such as those of a commit.
    """
    pairs, removed, added = pair(olds, news)
    compared = tuple(compare(*two) for two in pairs)
    return ComparisonSet(old, new, compared, tuple(removed), tuple(added), tuple(remarks), names or {})


def compare(old: Prediction, new: Prediction) -> Comparison:
    """Return what changed from one prediction to another, and why.

    >>> from warpwatt import predict
    >>> saxpy = '''
    ... __global__ void saxpy(int n, float a, const float* x, float* y) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) y[i] += a * x[i];
    ... }'''
    >>> args = {"n": 2**20, "a": 2, "x": "f32[n]", "y": "f32[n]"}
    >>> a, b = (predict(saxpy, gpu=gpu, grid=4096, block=256, args=args) for gpu in ("t4", "h200"))
    >>> compare(a, b).time.ratio.value < 0.5
    True
    """
    assumed, assumes = _messages(old), _messages(new)
    return Comparison(
        old,
        new,
        _quantity_change("time", old.time, new.time),
        _quantity_change("power", old.power, new.power),
        _quantity_change("energy", old.energy, new.energy),
        figures(old, new),
        _lines(old, new),
        tuple(message for message in assumed if message not in assumes),
        tuple(message for message in assumes if message not in assumed),
    )


def _messages(prediction: Prediction) -> tuple[str, ...]:
    return tuple(dict.fromkeys(assumption.message for assumption in prediction.assumptions))


def _quantity_change(name: str, old: Estimate, new: Estimate) -> QuantityChange:
    difference = new.combine(old, lambda a, b: a - b, old.unit)
    return QuantityChange(name, old, new, difference, new.combine(old, _over, ""))


def _over(new: float, old: float) -> float:
    return new / old if old > 0 else float("nan")


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's lines: what each costs, and the text of its files where they can be read."""

    prediction: Prediction
    costs: Mapping[Place, LineCost]
    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, prediction: Prediction) -> _Side:
        """Read the files that the prediction's lines name."""
        costs = {(line.file, line.line): line for line in prediction.lines}
        return cls(prediction, costs, {file: _read(file) for file, _ in costs})

    def text(self, place: Place) -> str:
        """Return the text of a line, empty if it cannot be read."""
        lines = self.texts.get(place[0], ())
        return lines[place[1] - 1] if place[1] <= len(lines) else ""


def _read(file: str) -> Sequence[str]:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()


def _lines(old: Prediction, new: Prediction) -> tuple[LineChange, ...]:
    """Return every line that costs something on either side, the greatest change of time first."""
    before, after = _Side.of(old), _Side.of(new)
    matches = _matches(before, after)
    there = {place: (origin, status) for origin, (place, status) in matches.items()}
    found = []
    for place in after.costs:
        origin, status = there.get(place, (None, LineStatus.ADDED))
        found.append(_change(before, after, origin, status, place))
    for place in before.costs:
        target, status = matches.get(place, (None, LineStatus.REMOVED))
        if target not in after.costs:
            found.append(_change(before, after, place, status, target))
    return tuple(sorted(found, key=_effect, reverse=True))


def _effect(change: LineChange) -> tuple[float, float]:
    return abs(change.time.value), abs(change.energy.value)


def _matches(before: _Side, after: _Side) -> dict[Place, tuple[Place, LineStatus]]:
    """Return old place to new place and status, of all lines of files that are on both sides."""
    found: dict[Place, tuple[Place, LineStatus]] = {}
    for file, other in _files(before, after):
        old, new = before.texts[file], after.texts[other]
        if old and new and before.prediction.kernel_name != after.prediction.kernel_name:
            found |= _within(before, after, file, other)  # another kernel: its lines, not the file's
            continue
        if not old or not new:  # no text to compare: a number is a number
            numbers = {line for name, line in (*before.costs, *after.costs) if name in (file, other)}
            found |= {(file, n): ((other, n), LineStatus.SAME) for n in numbers}
            continue
        found |= {(file, i): ((other, j), status) for i, j, status in match_lines(old, new)}
    return found


def _within(before: _Side, after: _Side, file: str, other: str) -> dict[Place, tuple[Place, LineStatus]]:
    """Match only the lines from the first to the last that costs something on either side."""
    (old, start), (new, new_start) = (
        (side.texts[name][min(numbers) - 1 : max(numbers)], min(numbers) - 1)
        for side, name in ((before, file), (after, other))
        if (numbers := [line for of, line in side.costs if of == name])
    )
    return {
        (file, start + i): ((other, new_start + j), LineStatus.SAME if status is LineStatus.MOVED else status)
        for i, j, status in match_lines(old, new)
    }


def _files(before: _Side, after: _Side) -> list[tuple[str, str]]:
    """Pair files: equal paths, then equal names, then the files of the kernels themselves."""
    left, right = list(before.texts), list(after.texts)
    pairs = []
    for key in (str, lambda name: Path(name).name):
        for file in list(left):
            other = next((name for name in right if key(name) == key(file)), None)
            if other is not None:
                pairs.append((file, other))
                left.remove(file)
                right.remove(other)
    mains = [_main(side, names) for side, names in ((before, left), (after, right))]
    return [*pairs, (mains[0], mains[1])] if mains[0] and mains[1] else pairs


def _main(side: _Side, names: Sequence[str]) -> str:
    """Return the kernel's own file among ``names``; the only one where none is known to be."""
    source = side.prediction.case.kernel.source
    own = [name for name in names if source is not None and Path(name).name == source.name]
    return own[0] if own else (names[0] if len(names) == 1 else "")


def _change(
    before: _Side, after: _Side, old_place: Place | None, status: LineStatus, new_place: Place | None
) -> LineChange:
    old = before.costs.get(old_place) if old_place is not None else None
    new = after.costs.get(new_place) if new_place is not None else None
    place, side = (new_place, after) if new_place is not None else (old_place, before)
    assert place is not None
    cost = new or old
    return LineChange(
        status=status,
        file=place[0],
        text=side.text(place) or (cost.text if cost is not None else ""),
        old_line=old_place[1] if old_place is not None else None,
        new_line=new_place[1] if new_place is not None else None,
        old=old,
        new=new,
        time=_part(before.prediction.time, after.prediction.time, *_time_shares(old, new)),
        energy=_part(before.prediction.energy, after.prediction.energy, *_energy_shares(old, new)),
        figures=line_figures(old, new),
    )


def _time_shares(old: LineCost | None, new: LineCost | None) -> tuple[float, float]:
    return (old.time_share if old else EXACT_ZERO), (new.time_share if new else EXACT_ZERO)


def _energy_shares(old: LineCost | None, new: LineCost | None) -> tuple[float, float]:
    return (old.energy_share if old else EXACT_ZERO), (new.energy_share if new else EXACT_ZERO)


def _part(old: Estimate, new: Estimate, old_share: float, new_share: float) -> Estimate:
    """Return new less old of the parts of two wholes, draw by draw; shares are taken as exact."""
    return new.combine(old, lambda a, b: a * new_share - b * old_share, old.unit)
