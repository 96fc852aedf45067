"""Reports that were made lately, under names that nobody can guess."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(slots=True)
class Reports:
    """The youngest reports, within a number of bytes."""

    most: int = 64 * 2**20
    _texts: OrderedDict[str, bytes] = field(default_factory=OrderedDict, init=False)
    _held: int = field(default=0, init=False)

    def put(self, page: bytes) -> str:
        """Keep a page and return its name; the oldest ones make room.

        >>> reports = Reports(most=5)
        >>> first, second = reports.put(b"abc"), reports.put(b"def")
        >>> reports.get(first), reports.get(second)
        (None, b'def')
        """
        name = secrets.token_urlsafe(16)
        self._texts[name] = page
        self._held += len(page)
        while self._held > self.most and len(self._texts) > 1:
            _, oldest = self._texts.popitem(last=False)
            self._held -= len(oldest)
        return name

    def get(self, name: str) -> bytes | None:
        """Return a page, or None where there is none of that name, or no longer."""
        return self._texts.get(name)
