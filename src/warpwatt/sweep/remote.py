"""What runs on a worker of a cluster, and what travels between it and who asks: bytes, and who made them."""

from __future__ import annotations

import json
import pickle
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from warpwatt.core.errors import WarpWattError
from warpwatt.frontend.toolchain import installed
from warpwatt.storage.inputs import package_digest
from warpwatt.sweep.rows import Row
from warpwatt.sweep.units import work

if TYPE_CHECKING:
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Unit

Packed = tuple[str, bytes]
"""Who made it, and a pickled sweep."""

_one_at_a_time = Lock()
"""Compiled code is not made by two threads at once; a second unit in a process would be no quicker anyway."""


class ClusterError(WarpWattError):
    """The scheduler or its workers cannot be used, or were lost (exit code 3)."""

    exit_code = 3


class OtherVersionError(ClusterError):
    """A worker has another WarpWatt than the one that asks (exit code 3)."""


def identity() -> str:
    """Return which WarpWatt this process has: version, a digest of its files, its compiler."""
    return f"WarpWatt {package_digest()}, CUDA {installed().version}"


def packed(sweep: Sweep) -> Packed:
    """Return a sweep as it travels."""
    return identity(), pickle.dumps(sweep)


def held(sweep: Packed) -> Packed:
    """Return what was given: a task, so that a worker holds the sweep for the others."""
    return sweep


def do_unit(sweep: Packed, unit: Unit) -> bytes:
    """Return the rows of a unit, one JSON line each.

    Raises
    ------
    OtherVersionError
        If the sweep comes from another WarpWatt than this process has.
    """
    if sweep[0] != identity():
        message = f"a worker has {identity()}, and was asked by {sweep[0]}"
        hint = "install the same WarpWatt and CUDA wheels where the workers run, and start them again"
        raise OtherVersionError(message, hint=hint)
    with _one_at_a_time:
        rows = [json.dumps(row.to_json(), separators=(",", ":")) for row in work(_read(sweep[1]), unit)]
    return "\n".join(rows).encode()


def unpacked(lines: bytes) -> list[Row]:
    """Return the rows that :func:`do_unit` returned."""
    return [Row.from_json(json.loads(line)) for line in lines.splitlines()]


@lru_cache(maxsize=2)
def _read(sweep: bytes) -> Sweep:
    """Return the sweep; from a scheduler that runs what it is sent anyway."""
    read: Sweep = pickle.loads(sweep)  # noqa: S301 - as said
    return read
