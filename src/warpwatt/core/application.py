"""An :class:`Application`: a graph of launches and copies on streams."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from warpwatt.core.launch import Launch


class CopyKind(StrEnum):
    """Direction of a copy."""

    HOST_TO_DEVICE = "h2d"
    DEVICE_TO_HOST = "d2h"
    DEVICE_TO_DEVICE = "d2d"


@dataclass(frozen=True, slots=True)
class KernelNode:
    """A kernel launch: ``source`` and ``kernel`` select it; ``repeats`` back-to-back launches.

    ``children`` are launched from the device by every one of these launches (dynamic parallelism), each
    ``repeats`` times, and finish before the parent counts as finished.
    """

    name: str
    source: Path
    kernel: str | None
    launch: Launch
    loop_counts: tuple[tuple[int, float], ...] = ()
    stream: str = "default"
    repeats: int = 1
    after: tuple[str, ...] = ()
    children: tuple[KernelNode, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyNode:
    """A copy of ``size`` bytes; ``pinned`` host memory is faster."""

    name: str
    kind: CopyKind
    size: int
    pinned: bool = False
    stream: str = "default"
    repeats: int = 1
    after: tuple[str, ...] = ()


Node = KernelNode | CopyNode


@dataclass(frozen=True, slots=True)
class Application:
    """Nodes in submission order. Nodes of one stream run in order; ``after`` adds edges across streams."""

    name: str
    nodes: tuple[Node, ...]
    idle: float = 0.0
    """Seconds of GPU idle time around the work that count towards its energy."""
