"""What every start would make anew of the same texts, kept: the code of dataclasses, and parsed TOML.

:mod:`dataclasses` writes every method as a text and compiles it, which is a quarter of the processor time of
a short command. Code and tables are those of the text whatever else changes, so the text is their key.
"""

from __future__ import annotations

import builtins
import dataclasses
import marshal
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from warpwatt.storage.cache import default_cache, digest

MOST_BYTES = 16 * 2**20
"""More is begun anew."""

Made = dict[tuple[str, str], bytes]


@contextmanager
def keeping_start(verb: str) -> Iterator[None]:
    """Let the body take from disk what it made of the same texts before, and keep what is new."""
    cache, key = default_cache(), digest(b"start", sys.version.encode(), verb.encode())
    payload = cache.get(key)
    made: Made = marshal.loads(payload) if payload is not None else {}  # noqa: S302 - the user's key is on it
    known, parse = len(made), tomllib.loads

    def execute(text: str, names: dict[str, Any] | None = None, found: dict[str, Any] | None = None) -> None:
        builtins.exec(_remembered(made, "code", text, _compiled), names, found)  # noqa: S102 - as dataclasses do

    def parsed(text: str, **said: Any) -> Any:
        return parse(text, **said) if said else _remembered(made, "toml", text, parse)

    dataclasses.exec = execute  # type: ignore[attr-defined]  # found before the builtin that it shadows
    tomllib.loads = parsed
    try:
        yield
    finally:
        tomllib.loads = parse
        del dataclasses.exec  # type: ignore[attr-defined]
        if len(made) > known and len(new := marshal.dumps(made)) < MOST_BYTES:
            cache.put(key, new)


def _compiled(text: str) -> Any:
    return compile(text, "<string>", "exec")


def _remembered(made: Made, kind: str, text: str, make: Callable[[str], Any]) -> Any:
    """Return what is made of a text, each time another object."""
    found = made.get((kind, text))
    if found is not None:
        return marshal.loads(found)  # noqa: S302 - from the same payload
    new = make(text)
    with suppress(ValueError):  # dates, which TOML has
        made[kind, text] = marshal.dumps(new)
    return new
