"""Bytes of device memory that a task needs at least: its buffers, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from warpwatt.core.application import KernelNode, Node
from warpwatt.core.arguments import Argument, Buffer, parse_arguments
from warpwatt.core.errors import ArgumentError

if TYPE_CHECKING:
    from warpwatt.sweep.tasks import Task


def buffer_bytes(task: Task) -> int:
    """Return the bytes of the largest set of buffers that one launch of a task needs.

    Buffers of different launches of an application may be the same ones: they are not added up.
    """
    if task.is_run:
        return 0
    if task.application is None:
        try:
            return _bytes(parse_arguments(task.launch.arg))
        except ArgumentError:
            return 0  # its rows say what is wrong
    return max((_bytes(node.launch.arguments) for node in _kernels(task.application.nodes)), default=0)


def _kernels(nodes: Iterable[Node]) -> Iterator[KernelNode]:
    for node in nodes:
        if isinstance(node, KernelNode):
            yield node
            yield from _kernels(node.children)


def _bytes(arguments: Mapping[str, Argument]) -> int:
    return sum(one.nbytes for one in arguments.values() if isinstance(one, Buffer))
