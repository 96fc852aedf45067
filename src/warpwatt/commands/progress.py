"""What a terminal shows of work that takes longer than two seconds, on stderr; nothing shows elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from warpwatt.core.progress import listening

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

DELAY_SECONDS = 2.0
"""What takes less is not worth a word."""
PERIOD_SECONDS = 0.25
_ERASE = "\r\x1b[K"


class StatusLine:
    """One line with the seconds since the first step and what is done now; it goes when nothing is."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._process = os.getpid()
        self._began = 0.0
        self._steps: tuple[str, ...] = ()
        self._shown = False
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def hear(self, steps: tuple[str, ...]) -> None:
        """Take the steps under way, the outermost first."""
        if os.getpid() != self._process:  # a worker that was forked: its steps are not this command's
            return
        if not self._began:
            self._began = time.monotonic()
            threading.Thread(target=self._draw_regularly, daemon=True).start()
        with self._lock:
            self._steps = steps
            if not steps:
                self._erase()

    def end(self) -> None:
        """Draw nothing any more."""
        self._ended.set()
        with self._lock:
            self._erase()

    def _draw_regularly(self) -> None:
        wait = DELAY_SECONDS
        while not self._ended.wait(wait):
            wait = PERIOD_SECONDS
            with self._lock:
                if self._steps and not self._ended.is_set():
                    self._write(_ERASE + self._text())
                    self._shown = True

    def _text(self) -> str:
        import shutil

        steps = dict.fromkeys((self._steps[0], self._steps[-1]))  # what is between explains neither
        text = f"{time.monotonic() - self._began:.0f} s  {': '.join(steps)}"
        return text[: shutil.get_terminal_size().columns - 1]

    def _erase(self) -> None:
        if self._shown:
            self._write(_ERASE)
            self._shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def is_shown() -> bool:
    """Return whether somebody watches: stderr is a terminal that can erase a line."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def show_steps() -> Iterator[None]:
    """Show the steps of the body on a terminal."""
    if not is_shown():
        yield
        return
    line = StatusLine(sys.stderr)
    try:
        with listening(line.hear):
            yield
    finally:
        line.end()


@contextmanager
def show_bar(*columns: str | ProgressColumn) -> Iterator[Progress]:
    """Yield a bar of rich's in place of the steps, on stderr; it goes when it ends.

    Only where :func:`is_shown`.
    """
    from rich.console import Console
    from rich.progress import Progress

    with listening(None), Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar
