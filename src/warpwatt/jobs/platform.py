"""Where jobs run: nodes with GPUs, each with what it draws while idle.

::

    [[node]]
    name = "fat"
    count = 2                        # fat-0 and fat-1
    gpus = { h200 = 4 }              # or ["h200", "a100"]
    host_w = 350.0                   # the node without its GPUs, all the time; 0 without
    gpu_idle_w = 75.0                # over what the GPU's data say
    off_w = 10.0                     # for the platform file
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwatt.core.errors import InputError
from warpwatt.core.gpu import Gpu
from warpwatt.core.toml import read_toml
from warpwatt.gpus import find
from warpwatt.models.specification import idle_watts

MOST_GPUS = 4096
_KEYS = ("name", "count", "gpus", "host_w", "gpu_idle_w", "off_w")


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """One GPU of a node."""

    name: str
    node: str
    gpu: Gpu
    idle_watts: float
    off_watts: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Platform:
    """Devices in the order in which equal ones are taken, and nodes with what they draw without GPUs."""

    devices: tuple[Device, ...]
    nodes: Mapping[str, float]

    @property
    def host_watts(self) -> float:
        """Power of all nodes without their GPUs."""
        return sum(self.nodes.values())

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The different GPUs."""
        return tuple({device.gpu.name: device.gpu for device in self.devices}.values())


def one_node(gpus: Iterable[Gpu]) -> Platform:
    """Return one node with these GPUs and nothing else that draws power."""
    return Platform(tuple(_devices("node", gpus, None, 0.0)), {"node": 0.0})


def read_platform(path: Path) -> Platform:
    """Return the platform a TOML file describes.

    Raises
    ------
    InputError
        If the file cannot be read, a key is unknown or a value impossible; names the file and the node.
    UnknownGpuError
        If there is no GPU of a name.
    """
    data = read_toml(path)
    tables = data.get("node", [])
    unknown = sorted(set(data) - {"node"})
    if unknown or not isinstance(tables, list) or not tables:
        what = f"unknown key {unknown[0]!r}" if unknown else "no nodes"
        raise InputError(what, file=path, hint="write [[node]] tables with gpus")
    devices: list[Device] = []
    nodes: dict[str, float] = {}
    for i, table in enumerate(tables):
        _node(table, f"node{i}", path, devices, nodes)
    if len(devices) > MOST_GPUS:
        raise InputError(f"more than {MOST_GPUS} GPUs", file=path)
    return Platform(tuple(devices), nodes)


def _node(
    table: Mapping[str, Any], default_name: str, path: Path, devices: list[Device], nodes: dict[str, float]
) -> None:
    """Add the devices and nodes of one table."""
    if not isinstance(table, dict):
        raise InputError("node is not a table", file=path, hint="write [[node]]")
    base = str(table.get("name", default_name))
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise InputError(f"{base}: unknown key {unknown[0]!r}", file=path, hint="keys: " + " ".join(_KEYS))
    count = _whole(table.get("count", 1), f"{base}: count", path)
    gpus = _gpus(table.get("gpus"), base, path)
    idle = _watts(table["gpu_idle_w"], f"{base}: gpu_idle_w", path) if "gpu_idle_w" in table else None
    off = _watts(table.get("off_w", 0.0), f"{base}: off_w", path)
    host = _watts(table.get("host_w", 0.0), f"{base}: host_w", path)
    for i in range(count):
        name = f"{base}-{i}" if count > 1 else base
        if name in nodes:
            raise InputError(f"two nodes are named {name!r}", file=path)
        nodes[name] = host
        devices.extend(_devices(name, gpus, idle, off))


def _devices(node: str, gpus: Iterable[Gpu], idle: float | None, off: float) -> Iterable[Device]:
    for i, gpu in enumerate(gpus):
        yield Device(f"{node}/gpu{i}", node, gpu, idle_watts(gpu) if idle is None else idle, off)


def _gpus(value: object, node: str, path: Path) -> list[Gpu]:
    """Return the GPUs of a list of names or a table of counts."""
    if isinstance(value, dict):
        names = [name for name, n in value.items() for _ in range(_whole(n, f"{node}: {name}", path))]
    elif isinstance(value, list):
        names = [str(name) for name in value]
    else:
        names = []
    if not names:
        raise InputError(f"{node}: no GPUs", file=path, hint='write gpus = ["h200", "h200"] or { h200 = 2 }')
    return [find(name) for name in names]


def _whole(value: object, what: str, path: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_GPUS:
        raise InputError(f"{what} must be a whole number from 1 to {MOST_GPUS}, not {value!r}", file=path)
    return value


def _watts(value: object, what: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= sys.float_info.max:
        raise InputError(f"{what} is not a number of watts: {value!r}", file=path)
    return float(value)
