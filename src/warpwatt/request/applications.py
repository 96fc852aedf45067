"""Applications from TOML.

::

    name = "two multiplications"
    idle = 0.001                     # seconds of idle GPU that count too

    [[step]]
    name = "upload"
    copy = "h2d"                     # h2d | d2h | d2d
    bytes = 8388608
    pinned = true

    [[step]]
    name = "multiply"
    source = "matmul.cu"             # beside this file
    kernel = "matmul"
    grid = [64, 64]
    block = [16, 16]
    args = { n = 1024, A = "f32[n*n]", B = "f32[n*n]", C = "f32[n*n]" }
    repeats = 2
    stream = "a"
    after = ["upload"]               # finished before this starts, besides the stream's own order

    [[step.child]]                   # launched from the device by every "multiply"
    source = "scale.cu"
    grid = 4096
    block = 256
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warpwatt.core.application import Application, CopyKind, CopyNode, KernelNode, Node
from warpwatt.core.errors import InputError
from warpwatt.core.toml import read_toml
from warpwatt.request.launch_text import from_table

_COMMON = ("name", "stream", "repeats", "after")
_COPY = ("copy", "bytes", "pinned", *_COMMON)
_KERNEL_ONLY = ("source", "child", *_COMMON)


def load_application(path: Path) -> Application:
    """Return the application a TOML file describes.

    Raises
    ------
    InputError
        If the file cannot be read, a key is unknown or a value impossible; names the file and the step.
    """
    data = read_toml(path)
    unknown = sorted(set(data) - {"name", "idle", "step"})
    if unknown:
        raise InputError(
            f"unknown key {unknown[0]!r}", file=path, hint="keys: name idle, and [[step]] tables"
        )
    steps = data.get("step", [])
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise InputError("no steps", file=path, hint="write one [[step]] table per launch or copy")
    idle = data.get("idle", 0.0)
    if isinstance(idle, bool) or not isinstance(idle, (int, float)) or not 0 <= idle < float("inf"):
        raise InputError(f"idle is not a number of seconds: {idle!r}", file=path)
    nodes = tuple(_node(step, f"step {i}", path) for i, step in enumerate(steps, start=1))
    _check_edges(nodes, path)
    return Application(str(data.get("name", path.stem)), nodes, float(idle))


def _node(step: Mapping[str, Any], default_name: str, path: Path) -> Node:
    if "copy" in step:
        return _copy(step, default_name, path)
    return kernel_node(step, default_name, path)


def _copy(step: Mapping[str, Any], default_name: str, path: Path) -> CopyNode:
    name = str(step.get("name", default_name))
    unknown = sorted(set(step) - set(_COPY))
    if unknown:
        raise InputError(f"{name}: unknown key {unknown[0]!r}", file=path, hint="keys: " + " ".join(_COPY))
    if step["copy"] not in tuple(CopyKind):
        raise InputError(f"{name}: no copy {step['copy']!r}", file=path, hint="copy: " + " ".join(CopyKind))
    size = _whole(step, "bytes", name, path, least=0)
    return CopyNode(
        name, CopyKind(step["copy"]), size, bool(step.get("pinned", False)), **_common(step, name, path)
    )


def kernel_node(step: Mapping[str, Any], default_name: str, path: Path) -> KernelNode:
    """Return the kernel launch that a table describes; raise as :func:`load_application`."""
    name = str(step.get("name", default_name))
    if not isinstance(step.get("source"), str):
        hint = 'a kernel step needs source = "FILE.cu", a copy step copy = "h2d"'
        raise InputError(f"{name}: neither source nor copy is said", file=path, hint=hint)
    request = from_table({k: v for k, v in step.items() if k not in _KERNEL_ONLY}, path).read()
    children = step.get("child", [])
    return KernelNode(
        name=name,
        source=path.parent / step["source"],
        kernel=request.kernel,
        launch=request.launch,
        loop_counts=request.loop_counts,
        children=tuple(
            kernel_node(child, f"{name} child {i}", path) for i, child in enumerate(children, start=1)
        ),
        **_common(step, name, path),
    )


def _common(step: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    after = step.get("after", [])
    if isinstance(after, str) or not all(isinstance(other, str) for other in after):
        raise InputError(f"{name}: after is not a list of step names", file=path)
    repeats = _whole(step, "repeats", name, path, least=1, default=1)
    return {"stream": str(step.get("stream", "default")), "repeats": repeats, "after": tuple(after)}


def _whole(
    step: Mapping[str, Any], key: str, name: str, path: Path, *, least: int, default: int | None = None
) -> int:
    value = step.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(
            f"{name}: {key} must be a whole number of at least {least}, not {value!r}", file=path
        )
    return value


def _check_edges(nodes: tuple[Node, ...], path: Path) -> None:
    """Edges may only point back in submission order: so there are no cycles."""
    seen: set[str] = set()
    for node in nodes:
        late = [other for other in node.after if other not in seen]
        if late:
            hint = "steps are submitted in file order; name an earlier step"
            raise InputError(f"{node.name}: no earlier step {late[0]!r}", file=path, hint=hint)
        if node.name in seen:
            raise InputError(f"two steps are named {node.name!r}", file=path)
        seen.add(node.name)
