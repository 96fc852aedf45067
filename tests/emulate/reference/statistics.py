"""What accesses looked like: sums by instruction and space, and the trace, for the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.emulate.reference.spaces import different
from tests.emulate.reference.state import mask_of
from warpwatt.emulate.layout import CONSTANT_SLOT, LOCAL_SLOT, PARAMETER_SLOT, SHARED_SLOT, SLOT_BITS
from warpwatt.emulate.run import AccessCounts, Trace
from warpwatt.program import transactions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

GLOBAL, SHARED, LOCAL, CONST = range(4)
IRREGULAR = int(np.iinfo(np.int64).min)
_SPACES = {SHARED_SLOT: SHARED, LOCAL_SLOT: LOCAL, PARAMETER_SLOT: CONST, CONSTANT_SLOT: CONST}
_SUMS = (
    "requests", "lanes", "sectors", "lines", "l1_passes", "wavefronts", "ideal", "collisions", "uniform",
    "constant_misses", "constant_far_misses",
)  # fmt: skip


@dataclass(slots=True)
class Row:
    """Sums of one instruction in one space."""

    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SUMS, 0))
    stride: int | None = None
    slot: int | None = None

    def add(self, found: dict[str, int], stride: int | None, slot: int) -> None:
        """Add requests that were looked at together."""
        for name, value in found.items():
            self.sums[name] += value
        if stride is not None:
            self.stride = stride if self.stride in (None, stride) else IRREGULAR
        self.slot = slot if self.slot in (None, slot) else -1


class Statistics:
    """Collects :class:`AccessCounts` and, if ``record`` says so, a :class:`Trace`."""

    def __init__(self, *, local_bytes: int, warps_per_block: int, record: bool, trace_bytes: int) -> None:
        self.rows: dict[tuple[int, int], Row] = {}
        self.local_bytes, self.per_block = local_bytes, warps_per_block
        self.recorder = Recorder(trace_bytes) if record else None

    def access(
        self, instruction: int, addresses: Array, lanes: Array, size: int, *,
        atomic: bool, warps: Array, grid_warps: Array,
    ) -> None:  # fmt: skip
        """Count one access of several warps; ``grid_warps`` are the warps' numbers in the grid."""
        slots = (addresses >> np.uint64(SLOT_BITS)).astype(np.int64)
        spaces = np.full(slots.shape, GLOBAL)
        for slot, space in _SPACES.items():
            spaces[slots == slot] = space
        physical = self._interleaved(addresses, spaces, grid_warps)
        seen = {}
        for space in different(spaces[lanes]):
            chosen = lanes & (spaces == space)
            rows = chosen.any(axis=1)
            row = self.rows.setdefault((instruction, space), Row())
            where, on = physical[rows], chosen[rows]
            own = addresses.astype(np.int64)[rows]
            found = self._sums(space, own, where, on, size, atomic=atomic)
            row.add({k: int(v.sum()) for k, v in found.items()}, _stride(own, on), _slot(slots[chosen]))
            if space == SHARED:
                seen[SHARED] = rows, found["wavefronts"]
        if self.recorder is not None:
            self.recorder.access(instruction, warps, lanes, physical, spaces, size, seen.get(SHARED))

    def _interleaved(self, addresses: Array, spaces: Array, grid_warps: Array) -> Array:
        """Return addresses with those of local memory as the hardware lays lanes side by side."""
        plain = addresses.astype(np.int64)
        if not (spaces == LOCAL).any():
            return plain
        offset = plain & ((1 << SLOT_BITS) - 1)
        lane = np.arange(32)
        spread = grid_warps[:, None] * self.local_bytes * 32 + (offset & ~3) * 32 + lane * 4 + (offset & 3)
        return np.where(spaces == LOCAL, (LOCAL_SLOT << SLOT_BITS) | spread, plain)

    def _sums(
        self, space: int, own: Array, where: Array, on: Array, size: int, *, atomic: bool
    ) -> dict[str, Array]:
        count = on.sum(axis=1)
        different = transactions.distinct(own, on)
        zero = np.zeros_like(count)
        found = dict.fromkeys(_SUMS, zero)
        found |= {"requests": zero + 1, "lanes": count, "uniform": (different == 1).astype(np.int64)}
        if atomic:
            found["collisions"] = _collisions(own, on)
        useful = different * size if space != LOCAL else count * size
        if space in (GLOBAL, LOCAL):
            pieces, lanes = (where, on) if space == GLOBAL else _words(where, on, size)
            width = size if space == GLOBAL else min(size, 4)
            found["sectors"] = transactions.blocks_touched(pieces, width, lanes, transactions.SECTOR)
            found["lines"] = transactions.blocks_touched(pieces, width, lanes, transactions.LINE)
            found["l1_passes"] = (
                transactions.l1_passes(where, size, on)
                if space == GLOBAL
                else transactions.tag_passes(pieces, lanes)
            )
            found["ideal"] = np.maximum(1, -(-useful // transactions.SECTOR))
        elif space == SHARED:
            offset = where & ((1 << SLOT_BITS) - 1)
            found["wavefronts"] = transactions.wavefronts(offset, size, on)
            found["ideal"] = transactions.fewest_wavefronts(useful, size, found["wavefronts"])
        return found

    def counts(self) -> AccessCounts:
        """Return all sums, by instruction and then space."""
        keys = sorted(self.rows)
        rows = [self.rows[key] for key in keys]
        return AccessCounts(
            instruction=_column([k[0] for k in keys]),
            space=_column([k[1] for k in keys]),
            stride=_column([IRREGULAR if r.stride is None else r.stride for r in rows]),
            slot=_column([-1 if r.slot is None else r.slot for r in rows]),
            **{name: _column([r.sums[name] for r in rows]) for name in _SUMS},
        )


class Recorder:
    """The events of a run in order, warps mixed; sorted by warp at the end."""

    def __init__(self, limit: int) -> None:
        self.left, self.complete = limit, True
        self.steps: list[tuple[Array, Array, Array]] = []
        self.accesses: list[tuple[Array, Array, Array, Array, Array]] = []
        self.lines: list[tuple[Array, Array]] = []
        self.count, self.step_count = 0, 0
        self.latest: dict[int, int] = {}
        """Each warp's last step, counted over all warps."""

    def step(self, warps: Array, block: int, lanes: Array) -> None:
        """Note that warps execute a basic block."""
        if self._spend(8 * len(warps)):
            self.steps.append((warps, np.full(len(warps), block, np.int32), mask_of(lanes)[:, 0]))
            self.latest.update((int(warp), self.step_count + k) for k, warp in enumerate(warps))
            self.step_count += len(warps)

    def access(
        self, instruction: int, warps: Array, lanes: Array, physical: Array, spaces: Array, size: int,
        shared: tuple[Array, Array] | None,
    ) -> None:  # fmt: skip
        """Note one access of several warps."""
        rows = lanes.any(axis=1)
        passes = np.zeros(len(warps), np.uint8)
        if shared is not None:
            passes[shared[0]] = np.minimum(shared[1], 255)
        off_chip = lanes & ((spaces == GLOBAL) | (spaces == LOCAL))
        pieces, on = _pieces(physical, off_chip, spaces, size)
        owner = np.broadcast_to((self.count + np.cumsum(rows) - 1)[:, None], on.shape)[on]
        sectors = pieces[on] >> 5
        owner, sectors = np.unique(np.stack([owner, sectors]), axis=1)
        if not self._spend(9 * int(rows.sum()) + 8 * len(sectors)):
            return
        chosen = np.flatnonzero(rows)
        self.accesses.append(
            (
                warps[chosen],
                np.full(len(chosen), instruction, np.int32),
                mask_of(lanes[chosen])[:, 0],
                passes[chosen],
                np.array([self.latest[int(warp)] for warp in warps[chosen]], np.int64),
            )
        )
        self.lines.append((owner, sectors))
        self.count += len(chosen)

    def _spend(self, size: int) -> bool:
        self.left -= size
        self.complete &= self.left >= 0
        return self.complete

    def trace(self, warps: int) -> Trace:
        """Return the trace of so many warps."""
        step_warp, block, mask = _joined(self.steps, (np.int64, np.int32, np.uint32))
        order = np.argsort(step_warp, kind="stable")
        kinds = (np.int64, np.int32, np.uint32, np.uint8, np.int64)
        warp, instruction, on, passes, step = _joined(self.accesses, kinds)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        by_warp = np.argsort(warp, kind="stable")
        owner, sectors = _joined(self.lines, (np.int64, np.int64))
        starts, lines = _lines(owner, sectors, by_warp)
        return Trace(
            step_start=np.searchsorted(step_warp[order], np.arange(warps + 1)),
            step_block=block[order],
            step_mask=mask[order],
            access_start=np.searchsorted(warp[by_warp], np.arange(warps + 1)),
            access_instruction=instruction[by_warp],
            access_mask=on[by_warp],
            access_wavefronts=passes[by_warp],
            access_step=place[step[by_warp]],
            line_start=starts,
            lines=lines,
            complete=self.complete,
        )


def _lines(owner: Array, sectors: Array, order: Array) -> tuple[Array, Array]:
    """Return the lines of accesses in a new order, with the bits of their sectors."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    new = place[owner] if len(order) else owner
    sort = np.lexsort((sectors, new))
    new, sectors = new[sort], sectors[sort]
    fresh = np.ones(len(new), np.bool_)
    fresh[1:] = (new[1:] != new[:-1]) | (sectors[1:] >> 2 != sectors[:-1] >> 2)
    first = np.flatnonzero(fresh)
    bits = np.bitwise_or.reduceat(np.int64(1) << (sectors & 3), first) if len(first) else sectors
    lines = ((sectors[first] >> 2 << 7) | bits).astype(np.uint64)
    return np.searchsorted(new[first], np.arange(len(order) + 1)), lines


def _joined(parts: Sequence[tuple[Array, ...]], kinds: tuple[Any, ...]) -> tuple[Array, ...]:
    columns: Sequence[Sequence[Array]] = list(zip(*parts, strict=True)) if parts else [[] for _ in kinds]
    return tuple(
        np.concatenate(column).astype(kind) if len(column) else np.empty(0, kind)
        for column, kind in zip(columns, kinds, strict=True)
    )


def _column(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def _pieces(physical: Array, lanes: Array, spaces: Array, size: int) -> tuple[Array, Array]:
    """Return every address that may lie in another sector: a lane's first, and all words of local ones."""
    if size <= 4 or not (spaces == LOCAL).any():
        return physical, lanes
    steps = np.where(spaces == LOCAL, 128, 4)
    words = [physical + k * steps for k in range(size // 4)]
    return np.concatenate(words, axis=1), np.concatenate([lanes] * len(words), axis=1)


def _words(where: Array, on: Array, size: int) -> tuple[Array, Array]:
    """Return the interleaved addresses of all 4-byte words of local accesses."""
    return _pieces(where, on, np.full(where.shape, LOCAL), size)


def _collisions(addresses: Array, on: Array) -> Array:
    """Return the largest number of lanes on one address."""
    same = (addresses[:, :, None] == addresses[:, None, :]) & on[:, None, :] & on[:, :, None]
    return np.asarray(same.sum(axis=2).max(axis=1))


def _stride(addresses: Array, on: Array) -> int | None:
    """Return the common distance of neighbouring lanes, ``IRREGULAR`` if there is none, None without any."""
    if not (on[:, 1:] & on[:, :-1]).any():
        return None
    stride = transactions.lane_stride(addresses, on)
    return IRREGULAR if stride is None else stride


def _slot(slots: Array) -> int:
    return int(slots[0]) if (slots == slots[0]).all() else -1
