"""Steps of work that may take long, reported to a listener: the command line shows them on a terminal.

>>> heard = []
>>> with listening(heard.append), step("NVIDIA H200"), step("emulating"):
...     pass
>>> heard
[('NVIDIA H200',), ('NVIDIA H200', 'emulating'), ('NVIDIA H200',), ()]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Listener = Callable[[tuple[str, ...]], None]


class _Steps:
    """The steps under way, the outermost first, and the listener they are reported to."""

    def __init__(self) -> None:
        self.listener: Listener | None = None
        self.running: list[str] = []

    def begin(self, text: str) -> None:
        self.running.append(text)
        self.notify()

    def end(self, text: str) -> None:
        self.running.remove(text)
        self.notify()

    def notify(self) -> None:
        if self.listener is not None:
            self.listener(tuple(self.running))


_STEPS = _Steps()


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Report the steps under way to ``listener`` whenever they change in the body; None: report nothing."""
    before, _STEPS.listener = _STEPS.listener, listener
    try:
        yield
    finally:
        _STEPS.listener = before


@contextmanager
def step(text: str) -> Iterator[None]:
    """Report that the body does ``text``: one step of what is under way already."""
    _STEPS.begin(text)
    try:
        yield
    finally:
        _STEPS.end(text)


@contextmanager
def interrupted() -> Iterator[None]:
    """Have the listener show no step while the body writes something else."""
    running, _STEPS.running = _STEPS.running, []
    _STEPS.notify()
    try:
        yield
    finally:
        _STEPS.running = running
        _STEPS.notify()


def counted(text: str, number: int, total: int) -> str:
    """Return a step's text with its place among several.

    >>> counted("NVIDIA H200", 2, 5), counted("NVIDIA H200", 1, 1)
    ('NVIDIA H200 (2 of 5)', 'NVIDIA H200')
    """
    return f"{text} ({number} of {total})" if total > 1 else text
