"""The launches that words ask for: the user's, laid over a file's and over the source's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warpwatt.core.toml import read_toml
from warpwatt.request.directives import read_directives
from warpwatt.request.launch_text import from_table

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.request.launch_text import LaunchText, Request


def requests(source: Source, launch: LaunchText, beside: Source | None = None) -> tuple[Request, ...]:
    """Return the launches to predict, read (see :func:`launch_texts`)."""
    return tuple(text.read() for text in launch_texts(source, launch, beside))


def launch_texts(source: Source, launch: LaunchText, beside: Source | None = None) -> tuple[LaunchText, ...]:
    """Return the launches to predict in words: the command line's over a file's over the source's own.

    A source may describe several launches in ``// warpwatt:`` lines; all are predicted unless the command
    line names a kernel or a whole launch. A source that describes none has those of the one ``beside`` it.
    """
    typed = typed_text(launch)
    directives = _directives(source) or (_directives(beside) if beside is not None else ())
    written = [text for text in directives if _same_kernel(text.kernel, typed.kernel)]
    if not written:
        return (typed,)
    if typed.complete:
        written = written[:1]
    return tuple(typed.over(text) for text in written)


def typed_text(launch: LaunchText) -> LaunchText:
    """Return what was typed, laid over the file of arguments."""
    if launch.args is None:
        return launch
    return replace(launch.over(from_table(read_toml(launch.args), launch.args)), args=None)


def _directives(source: Source) -> tuple[LaunchText, ...]:
    if b"\0" in source.data:  # a binary
        return ()
    return read_directives(source.data.decode("utf-8", errors="replace"), source.name)


def _same_kernel(written: str | None, wanted: str | None) -> bool:
    return written is None or wanted is None or wanted in written or written in wanted
