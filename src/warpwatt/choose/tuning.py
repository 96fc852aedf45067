"""A search over configurations by prediction: rough order first, then predictions of the promising ones.

What was predicted is kept in a journal, so that a search that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpwatt.choose.odds import in_order, probability_smaller
from warpwatt.core.errors import (
    DeviceError,
    InputError,
    OutputExistsError,
    ToolchainError,
    UnknownGpuError,
    WarpWattError,
)
from warpwatt.core.estimate import Estimate
from warpwatt.storage.inputs import changed

if TYPE_CHECKING:
    from warpwatt.storage.witness import Witness

Config = Mapping[str, object]
FIRST_SHARE = 0.6
"""Of the predictions those at the head of the rough order; the others go to neighbours of the best."""
DRAWN_SHARE = 0.25
"""Without a rough order: those that are drawn; the others go where these promise most."""
MOST_MODELLED = 20_000
"""Of a larger space so many configurations, drawn, are looked at."""
OPEN = 0.2
"""A configuration that beats the best with at least this probability is worth measuring, too."""
_OURS = (ToolchainError, DeviceError, UnknownGpuError)


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration and what was predicted of it; ``value`` None where ``error`` says why.

    ``remark`` says where the prediction means little.
    """

    config: Config
    value: Estimate | None = None
    error: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a search: configurations that were predicted, best first, and those that failed.

    ``space`` is how many configurations there are.
    """

    order: tuple[Trial, ...]
    failed: tuple[Trial, ...]
    space: int

    @property
    def sure(self) -> float:
        """Probability that the best really beats the next that was predicted; 1 if it is alone."""
        values = [trial.value for trial in self.order if trial.value is not None]
        return probability_smaller(values[0], values[1]) if len(values) > 1 else 1.0

    @property
    def open(self) -> tuple[Trial, ...]:
        """The best and what may still be better: what a measurement would decide."""
        best = self.order[0].value
        assert best is not None
        others = (t for t in self.order[1:] if t.value and probability_smaller(t.value, best) > OPEN)
        return (self.order[0], *others)


READ, PARTS = "read", "parts"
"""Keys of lines that are no predictions: files that were read for them, and what else they are of."""


class Journal:
    """Predictions by what was asked, one JSON line each; a line that was cut off is left out.

    ``heard``: what this process reads for its predictions. ``force``: throw away what is of other inputs.
    """

    def __init__(self, file: Path | None, heard: Witness | None = None, *, force: bool = False) -> None:
        self.file, self._heard, self._force = file, heard, force
        self._known: dict[str, dict[str, Any]] = {}
        if file is None or not file.exists():
            return
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                key, said = json.loads(line)
            except ValueError:
                continue
            self._known[key] = {**said, **self._known.get(READ, {})} if key == READ else said

    def claim(self, parts: Mapping[str, str]) -> None:
        """Say what the predictions are of, by the name of each part.

        Raises
        ------
        OutputExistsError
            If those that are there are of something else, or a file has changed that was read for them.
        """
        was = self._known.get(PARTS, parts if not self._known else {})
        different = [name for name in parts if was.get(name) != parts[name]]
        different += changed(self._known.get(READ, {}))
        if different and not self._force:
            hint = "--force throws them away; with the inputs that made them the search goes on"
            what = f"predictions of other inputs are here; changed since: {', '.join(different)}"
            raise OutputExistsError(what, file=self.file, hint=hint)
        if different:
            self.end()
            self._known = {}
        if self.file is not None and PARTS not in self._known:
            self._write((PARTS, parts))
        self._known[PARTS] = dict(parts)

    def __len__(self) -> int:
        return len(self._known.keys() - {READ, PARTS})

    def get(self, key: str, config: Config) -> Trial | None:
        """Return what is known of a configuration."""
        said = self._known.get(key)
        if said is None:
            return None
        value = None
        if draws := said.get("draws"):
            assert isinstance(draws, list)
            value = Estimate.from_draws(float(str(said["value"])), draws, str(said["unit"]))
        return Trial(config, value, str(said["error"]), str(said["remark"]))

    def put(self, key: str, trial: Trial) -> None:
        """Keep a prediction, at once."""
        value = trial.value
        said: dict[str, object] = {"error": trial.error, "remark": trial.remark}
        if value is not None:
            draws = value.draws or (value.value,)
            said |= {"value": value.value, "unit": value.unit, "draws": [float(f"{d:.6g}") for d in draws]}
        self._known[key] = said
        read = self._heard.news() if self._heard is not None else {}
        self._write(*[(READ, read)] * bool(read), (key, said))

    def _write(self, *lines: object) -> None:
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as out:
                out.write("".join(f"{json.dumps(line)}\n" for line in lines))

    def end(self) -> None:
        """Remove the file: the result is written."""
        if self.file is not None:
            self.file.unlink(missing_ok=True)


def search(
    space: Sequence[Config],
    predicted: Callable[[Config], tuple[Estimate, str]],
    *,
    rough: Callable[[Config], float] | None = None,
    budget: int = 24,
    journal: Journal | None = None,
    about: str = "",
) -> Found:
    """Predict up to ``budget`` configurations of a space and return them in order.

    Parameters
    ----------
    predicted
        The objective of a configuration, and a remark where it means little; raises what predicting raises.
    rough
        About the objective, at next to no cost; infinite for what cannot run. None: configurations are drawn,
        and a model of the predictions (:mod:`~warpwatt.choose.surrogate`) chooses the others.
    about
        What tells this search's entries in the journal from another's.

    Raises
    ------
    InputError
        If nothing could be predicted, with the first reason.

    >>> space = [{"n": n} for n in range(9)]
    >>> square = lambda c: (Estimate.exact((c["n"] - 6) ** 2 + 1, "s"), "")
    >>> found = search(space, square, rough=lambda c: c["n"], budget=7)
    >>> found.order[0].config, len(found.order), found.space
    ({'n': 6}, 7, 9)
    """
    journal = Journal(None) if journal is None else journal
    queue = list(space) if rough is None else _queue(space, rough)
    tried: dict[str, Trial] = {}

    def look(config: Config) -> Estimate | None:
        key = _key(about, config)
        known = journal.get(key, config)
        if known is None:
            known = _trial(config, predicted)
            journal.put(key, known)
        tried[_key("", config)] = known
        return known.value

    if len(queue) <= budget:
        for config in queue:
            look(config)
    elif rough is None:
        _follow_surrogate(queue, look, budget)
    else:
        for config in queue[: math.ceil(FIRST_SHARE * budget)]:
            look(config)
        while len(tried) < budget:
            look(next(_next(tried, queue, space)))
    order = in_order([t for t in tried.values() if t.value is not None], _value)
    failed = tuple(t for t in tried.values() if t.value is None)
    if not order:
        reason = failed[0].error if failed else "no configuration fits the GPU"
        raise InputError(f"none of {len(tried)} configurations could be predicted: {reason}")
    return Found(tuple(order), failed, len(space))


def _follow_surrogate(
    space: Sequence[Config], look: Callable[[Config], Estimate | None], budget: int
) -> None:
    """Look at configurations that are drawn, then at those that may well be the best by what these tell."""
    from warpwatt.choose.surrogate import Surrogate

    drawn = random.Random(0).sample(space, min(len(space), MOST_MODELLED))  # noqa: S311 - the same each time
    surrogate, first = Surrogate(drawn), math.ceil(DRAWN_SHARE * budget)
    left, seen = dict.fromkeys(range(len(drawn))), False
    for done in range(budget):
        number = next(iter(left))
        if seen and done >= first:
            better = surrogate.expected_improvement()
            number = max(left, key=lambda one: better[one])
        del left[number]
        value = look(drawn[number])
        if value is not None:
            surrogate.see(number, value.value)
            seen = True


def _queue(space: Sequence[Config], rough: Callable[[Config], float]) -> list[Config]:
    """Return what can run: one of those that the rough order cannot tell apart each, then the others.

    >>> _queue([{"n": 3}, {"n": 4}, {"n": 5}, {"n": 6}], lambda c: c["n"] // 2 if c["n"] < 6 else math.inf)
    [{'n': 3}, {'n': 4}, {'n': 5}]
    >>> _queue([{"n": n} for n in (4, 5, 2)], lambda c: c["n"] // 2)
    [{'n': 2}, {'n': 4}, {'n': 5}]
    """
    valued = sorted(((rough(config), config) for config in space), key=lambda pair: pair[0])
    able = [(value, config) for value, config in valued if value < math.inf]
    first = dict(reversed(able))
    others = [config for value, config in able if config is not first[value]]
    return [*reversed(first.values()), *others]


def _value(trial: Trial) -> Estimate:
    assert trial.value is not None
    return trial.value


def _trial(config: Config, predicted: Callable[[Config], tuple[Estimate, str]]) -> Trial:
    try:
        value, remark = predicted(config)
    except _OURS:
        raise
    except WarpWattError as error:
        return Trial(config, error=" ".join(str(error).split()))
    return Trial(config, value, remark=remark)


def _next(tried: Mapping[str, Trial], queue: Sequence[Config], space: Sequence[Config]) -> Iterator[Config]:
    """Yield what is to be predicted next: neighbours of the best, best first, then the rough order's next."""
    steps = _steps(space)
    good = in_order([t for t in tried.values() if t.value is not None], _value)
    there = {_key("", config): config for config in queue}
    for trial in good:
        for neighbour in _neighbours(trial.config, steps):
            key = _key("", neighbour)
            if key in there and key not in tried:
                yield there[key]
    yield from (config for key, config in there.items() if key not in tried)


def _steps(space: Sequence[Config]) -> dict[str, list[object]]:
    """Return the values of each parameter, numbers in ascending order."""
    found = {name: list(dict.fromkeys(config.get(name) for config in space)) for name in space[0]}
    for values in found.values():
        if all(isinstance(value, int | float) for value in values):
            values.sort(key=lambda value: float(str(value)))
    return found


def _neighbours(config: Config, steps: Mapping[str, Sequence[object]]) -> Iterator[Config]:
    """Yield configurations that differ by one step of one parameter."""
    for name, values in steps.items():
        at = values.index(config.get(name))
        for other in (at - 1, at + 1):
            if 0 <= other < len(values):
                yield {**config, name: values[other]}


def _key(about: str, config: Config) -> str:
    """Return what names a configuration in the journal."""
    return about + json.dumps(dict(sorted(config.items())), default=str)
