"""Launches that differ in their data alone and take the same time all the same: predicted seldom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpwatt.run.launches import Predicted, Request

TOLERANCE = 0.005
"""Times that are this near to each other, as a part of them, are the same."""
AGREEING, SOON = 8, 2
"""Agreeing predictions in a row for each launch that is taken to be alike; where times alone count."""


@dataclass(slots=True)
class _Seen:
    """The last prediction of identical launches, how many in a row agreed, for how many more it stands."""

    last: Predicted
    agreeing: int = 1
    left: int = 0


@dataclass(slots=True)
class Steady:
    """What launches took before that data steer, or, where times alone count, that differ in parameters."""

    times_alone: bool = False
    _seen: dict[tuple[object, ...], _Seen] = field(default_factory=dict)

    def alike(self, request: Request) -> Predicted | None:
        """Return the prediction that a launch is taken to share, None if it is to be predicted itself."""
        seen = self._seen.get(self._key(request))
        if seen is None or not seen.left:
            return None
        seen.left -= 1
        return replace(seen.last, request=request, borrowed_from=seen.last.request.number)

    def predicted(self, found: Predicted) -> None:
        """Know what a launch takes that was predicted itself."""
        seen = self._seen.get(self._key(found.request))
        if seen is None or not _agree(seen.last, found):
            self._seen[self._key(found.request)] = _Seen(found)
            return
        seen.last, seen.agreeing = found, seen.agreeing + 1
        seen.left = seen.agreeing // (SOON if self.times_alone else AGREEING)

    def _key(self, request: Request) -> tuple[object, ...]:
        return request.similar if self.times_alone else request.signature


def _agree(one: Predicted, other: Predicted) -> bool:
    """Whether two launches take the same time and energy on every GPU."""
    return all(
        a is not None
        and b is not None
        and abs(a.time.value - b.time.value) <= TOLERANCE * b.time.value
        and abs(a.energy.value - b.energy.value) <= TOLERANCE * b.energy.value
        for a, b in zip(one.predictions, other.predictions, strict=True)
    )
