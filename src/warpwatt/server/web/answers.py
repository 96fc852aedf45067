"""Answers that were given lately: the same request again costs no work."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any


@dataclass(slots=True)
class Answers:
    """The answers asked for last, within a number of characters; in memory only.

    A worker's answer depends on its request and on what the server found when it started, nothing else.
    """

    most: int = 32 * 2**20
    _kept: OrderedDict[bytes, tuple[int, dict[str, Any]]] = field(default_factory=OrderedDict, init=False)
    _held: int = field(default=0, init=False)

    def get(self, task: str, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return what was answered to a request, None where that is not known.

        >>> answers = Answers(most=40)
        >>> answers.put("predict", {"name": "a"}, {"document": "x" * 10})
        >>> answers.put("predict", {"name": "b"}, {"document": "y" * 10})
        >>> answers.get("predict", {"name": "a"}), answers.get("compare", {"name": "b"})
        (None, None)
        >>> answers.get("predict", {"name": "b"})
        {'document': 'yyyyyyyyyy'}
        """
        key = _key(task, request)
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][1]

    def put(self, task: str, request: dict[str, Any], answer: dict[str, Any]) -> None:
        """Keep an answer; those asked for longest ago make room."""
        key, size = _key(task, request), len(json.dumps(answer))
        if key in self._kept or size > self.most:
            return
        self._kept[key] = size, answer
        self._held += size
        while self._held > self.most:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._held -= oldest


def _key(task: str, request: dict[str, Any]) -> bytes:
    return sha256(json.dumps([task, request], sort_keys=True).encode()).digest()
