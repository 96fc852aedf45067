"""``Task``: one thing that a sweep predicts, a launch of a kernel, an application or a program's run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.application import Application, KernelNode
from warpwatt.core.folders import cache_directory
from warpwatt.frontend.source import read_source
from warpwatt.request.applications import load_application
from warpwatt.request.launch_text import LaunchText
from warpwatt.storage.cache import digest
from warpwatt.sweep.sizes import expanded, is_number

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.options import CompileOptions


@dataclass(frozen=True, slots=True)
class Task:
    """A launch in words of a kernel in ``source``, the application that ``source`` describes, or a saved run.

    ``files`` are the sources of an application's kernels by the path that its steps name, read already: who
    works on the task may have no such file.
    """

    source: Source
    launch: LaunchText = field(default_factory=LaunchText)
    application: Application | None = None
    files: tuple[tuple[str, Source], ...] = ()
    is_run: bool = False
    """Whether ``source`` is what ``warpwatt run --save`` kept."""

    @property
    def is_whole(self) -> bool:
        """Whether it has launches of its own, which configurations do not change."""
        return self.is_run or self.application is not None

    @property
    def name(self) -> str:
        """The kernel as asked for, or the application; empty where the source has one kernel only."""
        return self.application.name if self.application is not None else self.launch.kernel or ""

    @property
    def scalars(self) -> tuple[tuple[str, str], ...]:
        """Names and texts of the arguments that are numbers."""
        pairs = (text.partition("=") for text in self.launch.arg)
        found = ((name.strip(), value.strip()) for name, _, value in pairs)
        return tuple((name, value) for name, value in found if is_number(value))


def kernel_tasks(source: Source, launches: Iterable[LaunchText]) -> tuple[Task, ...]:
    """Return a task for every launch and every value of its arguments (see :func:`.sizes.expanded`)."""
    source = anywhere(source)
    return tuple(Task(source, one) for launch in launches for one in expanded(launch))


def application_task(path: Path) -> Task:
    """Return the task of an application; raise :class:`~warpwatt.core.errors.InputError` as reading does."""
    application = load_application(path)
    nodes = [node for one in application.nodes if isinstance(one, KernelNode) for node in _with_children(one)]
    files = {str(node.source): node.source for node in nodes}
    read = tuple((name, anywhere(read_source(file))) for name, file in files.items())
    return Task(read_source(path), application=application, files=read)


def run_task(path: Path) -> Task:
    """Return the task of a saved run; raise :class:`~warpwatt.core.errors.InputError` as reading does."""
    return Task(anywhere(read_source(path)), is_run=True)


def anywhere(source: Source) -> Source:
    """Return a source whose path means the same in every folder."""
    return source if source.path is None else replace(source, path=source.path.resolve())


def _with_children(node: KernelNode) -> Iterator[KernelNode]:
    yield node
    for child in node.children:
        yield from _with_children(child)


def present(source: Source, options: CompileOptions) -> tuple[Source, CompileOptions]:
    """Return a source whose file holds its text, and options with which its headers are found.

    That is the source as it is, or a copy in the cache where its file is not there or was changed since.
    """
    if source.path is None or _holds(source.path, source.data):
        return source, options
    copy = cache_directory() / "sources" / digest(source.data) / source.path.name
    if not _holds(copy, source.data):
        copy.parent.mkdir(parents=True, exist_ok=True)
        scratch = copy.with_name(f"{copy.name}.{os.getpid()}")
        scratch.write_bytes(source.data)
        scratch.replace(copy)
    include = (*options.include, str(source.path.parent.absolute()))
    return replace(source, path=copy), replace(options, include=include)


def _holds(file: Path, data: bytes) -> bool:
    try:
        return file.read_bytes() == data
    except OSError:
        return False
