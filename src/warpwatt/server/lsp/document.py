"""One open document: its text, what was asked of it, and what is known."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pygls.uris import to_fs_path

from warpwatt.server.lsp.settings import Settings
from warpwatt.server.lsp.source import KernelPlace, annotated_launches, kernels
from warpwatt.server.lsp.text import Text, still

if TYPE_CHECKING:
    from warpwatt.server.lsp.facts import Answer, Facts, PlacedLaunch, Problem, Shown

SUFFIXES = (".cu", ".cuh")
LANGUAGES = ("cuda", "cuda-cpp", "cu")
MAX_CHARACTERS = 4_000_000
"""Texts above this are not analysed; they would be no source that a person writes."""


@dataclass(slots=True)
class Document:
    """State of one document; ``answer`` belongs to ``answered``, a text that may be older than ``text``."""

    uri: str
    text: Text
    version: int
    settings: Settings = field(default_factory=Settings)
    launch_problems: tuple[Problem, ...] = ()
    answer: Answer | None = None
    answered: str = ""
    good: tuple[Shown, ...] = ()
    """What was known when the text compiled last."""
    asked: object = None
    """What the last request was made of; the same again is not asked twice while it runs."""
    pending: bool = False
    timer: asyncio.TimerHandle | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def path(self) -> Path | None:
        """The file, None where the document has none."""
        found = to_fs_path(self.uri) if self.uri.startswith("file:") else None
        return Path(found) if found else None

    @property
    def name(self) -> str:
        """What compilers and messages call it."""
        return str(self.path) if self.path is not None else self.uri

    @property
    def current(self) -> bool:
        """Whether the answer is for the text as it is."""
        return self.answer is not None and self.answered == self.text.text

    @property
    def places(self) -> tuple[KernelPlace, ...]:
        """The kernels of the text as it is."""
        return kernels(self.text.text) if len(self.text.text) <= MAX_CHARACTERS else ()

    def launches(self) -> tuple[PlacedLaunch, ...]:
        """Return the launches that comments say, then those of the settings for other kernels.

        What is wrong with comments goes to ``launch_problems``.
        """
        annotated, self.launch_problems = annotated_launches(self.text.text)
        names = {launch.kernel for launch in annotated}
        if None in names:  # the only kernel there is
            return annotated
        here = {place.name for place in self.places}
        more = tuple(w for w in self.settings.launches if w.kernel not in names and bare(w.kernel) in here)
        return (*annotated, *more)

    def lines_now(self) -> dict[int, int]:
        """Return lines of the answered text that are still there, and where."""
        return still(self.answered, self.text.text)

    def shown_for(self, place: KernelPlace) -> list[Shown]:
        """Return what is known of a kernel of the text as it is, in order of launches."""
        if self.answer is None:
            return []
        same = [other for other in self.places if other.name == place.name]
        found = [shown for shown in self.answer.shown if shown.facts.kernel == place.name]
        if len(same) == 1:
            return found
        now = self.lines_now()
        return [shown for shown in found if _lies_in(shown.facts, place, now)]


def bare(kernel: str | None) -> str:
    """Return a kernel's plain name as a launch may name it: ``"ns::axpy<float>"`` is ``"axpy"``."""
    return (kernel or "").partition("<")[0].strip().rpartition("::")[2]


def _lies_in(facts: Facts, place: KernelPlace, now: dict[int, int]) -> bool:
    lines = [now.get(fact.line, -1) for fact in facts.lines]
    inside = sum(place.first <= line <= place.last for line in lines)
    return 2 * inside > len(lines)


def is_cuda(uri: str, language: str | None, text: str) -> bool:
    """Whether a document is the server's business."""
    return (
        language in LANGUAGES
        or uri.lower().rpartition("?")[0].endswith(SUFFIXES)
        or uri.lower().endswith(SUFFIXES)
        or "__global__" in text
    )
