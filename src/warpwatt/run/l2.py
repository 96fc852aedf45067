"""What L2 holds between the launches of a run: buffers, by how much was touched since they were.

A launch finds of a buffer what L2 has not lost since the last work that touched it. The bytes touched between
are those of the work after that one, and, as buffers of one launch are touched together, half of its own and
half of the launch's that comes. L2 loses along the curve that is published for what two waves have in common
(:func:`~warpwatt.emulate.caches.curves.overlap_miss`); for a launch that repeats, this is its warm L2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warpwatt.core.launch import L2State
from warpwatt.emulate.caches.curves import overlap_miss
from warpwatt.emulate.caches.policy import policy

if TYPE_CHECKING:
    from warpwatt.core.gpu import Gpu

STEPS = 16
"""Shares are whole numbers of this part: launches that find nearly the same are predicted once."""

LEAST = 1 / 256
"""Share of what a launch touches below which it does not matter where a buffer is."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a launch finds: the share of each buffer that is there, and whether other data are in the way."""

    state: L2State = L2State.COLD
    shares: tuple[tuple[int, float], ...] = ()
    """Address of each buffer of which something is there, and its share."""


@dataclass(frozen=True, slots=True)
class _Touch:
    """Bytes of a buffer that a piece of work has touched, the last to do so, and the number of that work."""

    bytes: float
    work: int


@dataclass(slots=True)
class L2Contents:
    """L2 of one GPU, while the work of a run goes through it.

    >>> from warpwatt.gpus import find
    >>> l2 = L2Contents.of(find("h200"))
    >>> l2.touch({1: 20e6, 2: 1e6})
    >>> l2.find({1: 20e6, 2: 2e6}).shares
    ((1, 1.0), (2, 0.5))
    >>> l2.touch({3: 200e6})
    >>> l2.find({1: 20e6})
    Found(state=<L2State.PREVIOUS: 'previous'>, shares=())
    """

    bytes: float
    dirty_bytes: float
    """Bytes beyond which L2 must write back what was written before."""
    flushed: bool = False
    """Whether it is emptied before each launch, as Nsight Compute does (``--cache-control all``)."""
    _touched: dict[int, _Touch] = field(default_factory=dict)
    """By address of the buffer."""
    _work: int = 0

    @classmethod
    def of(cls, gpu: Gpu, *, flushed: bool = False) -> L2Contents:
        """Return the L2 of a GPU that has done nothing yet."""
        rules = policy(gpu)
        return cls(rules.l2_bytes, rules.dirty_bytes, flushed)

    def find(self, footprints: Mapping[int, float]) -> Found:
        """Return what a launch finds that touches so many bytes of the buffers at these addresses."""
        if self.flushed:
            return Found()
        least = sum(footprints.values()) * LEAST
        large = sorted(address for address, bytes_ in footprints.items() if bytes_ >= least)
        shares = {address: self._share(address, footprints) for address in large}
        moved = sum(touch.bytes for touch in self._touched.values())
        state = L2State.PREVIOUS if moved > self.dirty_bytes else L2State.COLD
        return Found(state, tuple((address, share) for address, share in shares.items() if share))

    def touch(self, footprints: Mapping[int, float]) -> None:
        """Know that work has touched buffers."""
        self._work += 1
        self._touched |= {address: _Touch(bytes_, self._work) for address, bytes_ in footprints.items()}

    def copy_to(self, address: int, size: float, whole: float) -> None:
        """Know that a part of a buffer of ``whole`` bytes was written; parts one after the other add up."""
        last = self._touched.get(address)
        if last is None or last.work != self._work:
            self.touch({address: size})
        else:
            self._touched[address] = _Touch(min(whole, last.bytes + size), self._work)

    def forget(self, address: int) -> None:
        """Know that a buffer is no more."""
        self._touched.pop(address, None)

    def _share(self, address: int, footprints: Mapping[int, float]) -> float:
        """Return the share of a buffer that is there."""
        last = self._touched.get(address)
        if last is None or not footprints[address]:
            return 0.0
        there = min(1.0, last.bytes / footprints[address])
        kept = 1.0 - overlap_miss(self._between(last.work, footprints) / self.bytes)
        return round(there * kept * STEPS) / STEPS

    def _between(self, work: int, footprints: Mapping[int, float]) -> float:
        """Return the bytes touched since some work and before the same buffer in work that comes."""
        later = sum(touch.bytes for touch in self._touched.values() if touch.work > work)
        beside = sum(touch.bytes for touch in self._touched.values() if touch.work == work)
        coming = sum(
            bytes_
            for address, bytes_ in footprints.items()
            if address not in self._touched or self._touched[address].work <= work
        )
        return later + (beside + coming) / 2
