"""Untrusted CUDA C++: text that cannot make NVRTC read a file of this machine.

NVRTC opens whatever ``#include "/etc/passwd"`` names, include folders or not. So the text is read by the
rules of the preprocessor's first phases before NVRTC sees it, and everything that names a file must be a
literal name of CUDA's or the standard library's headers. Those are given as texts; in them, no name can be
built from macros of the user's. Line markers (``#line``, ``.file``) only name files; code that
shows source lines to people must read them from the submitted text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from warpwatt.core.errors import CompileError
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.host_headers import HOST_HEADERS
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.toolchain import Toolkit

MACRO = "warpwatt_has_include"
"""Stands for ``__has_include`` in CUDA's headers: what exists is answered here, not by the file system."""
LONGEST_NAME = 200
"""Characters of a header's name: file systems have no longer ones."""
MAX_HEADERS = 4000
"""Headers one source may pull in; the largest of CUDA's own (cub, libcu++) stay below."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_BLANK = r"[^\S\n]*"
_COMMENTED = re.compile(rf"(?:#|%:){_BLANK}/\*")
_INCLUDE = re.compile(rf"(?:#|%:){_BLANK}(?P<word>(?:include|import|embed|using)\w*){_BLANK}(?P<rest>[^\n]*)")
_LITERAL = re.compile(r'<(?P<angle>[^<>"\n]+)>|"(?P<quoted>[^<>"\n]+)"')
_ORACLE = re.compile(r"\b__has_(?:include|embed)\w*")
_PASTE = re.compile(r"##|%:%:")
_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*(?:/[A-Za-z0-9_][\w.+-]*)*")
_HEADER_LINE = re.compile(
    rf"^{_BLANK}#{_BLANK}include{_BLANK}(?P<name><[^>\n]+>|\"[^\"\n]+\")?", re.MULTILINE
)
_LITERAL_ORACLE = re.compile(r'\b__has_include\s*\(\s*[<"](?P<name>[^>"]+)[>"]\s*\)')


def normalised(text: str) -> str:
    r"""Return the text with newlines and line splices in their one plain form; lines stay where they are.

    >>> normalised("#inc\\ \r\nlude <a>\r")
    '#inc\\\nlude <a>\n'
    """
    return re.sub(r"\\[^\S\n]+\n", "\\\\\n", re.sub(r"\r\n?", "\n", text))


def check(source: Source, options: CompileOptions, toolkit: Toolkit) -> tuple[str, ...]:
    """Return the names of the headers that a normalised source includes.

    Raises
    ------
    CompileError
        If the text (or a macro that ``options`` define) could make the compiler look for any other file;
        names the line.
    """
    spliced = _Spliced(normalised(source.text), source.name)
    for part in (spliced, *(_Spliced(define, source.name) for define in options.defines)):
        _refuse(part, _CONTROL, "a control character", "remove it")
        _refuse(
            part, _COMMENTED, "a comment between # and the directive's name", "write the directive plainly"
        )
        _refuse(part, _ORACLE, "__has_include asks for files, and none are read here", "leave the test out")
        if not options.pasting:
            hint = "write the names out: on this system pasted names could ask for files"
            _refuse(part, _PASTE, "## is not accepted here", hint)
    return tuple(dict.fromkeys(_names(spliced, toolkit)))


class _Spliced:
    """A text without line splices, and the way back to the user's lines."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.text = text.replace("\\\n", "")
        self._splices = [m.start() - 2 * i for i, m in enumerate(re.finditer(r"\\\n", text))]

    def error(self, at: int, message: str, hint: str) -> CompileError:
        """Return the error for a place in the text, with the user's line."""
        line = self.text.count("\n", 0, at) + sum(1 for splice in self._splices if splice <= at) + 1
        return CompileError(message, file=self.file, line=line, hint=hint)


def _refuse(spliced: _Spliced, pattern: re.Pattern[str], message: str, hint: str) -> None:
    if found := pattern.search(spliced.text):
        raise spliced.error(found.start(), message, hint)


def _names(spliced: _Spliced, toolkit: Toolkit) -> Iterator[str]:
    """Yield the names of included headers, each one of ours or CUDA's."""
    for found in _INCLUDE.finditer(spliced.text):
        literal = _LITERAL.match(found["rest"])
        if found["word"] != "include" or literal is None:
            hint = "write #include <NAME> with a header of CUDA or of the standard library"
            raise spliced.error(found.start(), f"#{found['word']} of a computed name or a file", hint)
        name = literal["angle"] or literal["quoted"]
        if name not in HOST_HEADERS and _file(name, toolkit) is None:
            hint = "no files are read here: put the header's text in place of the #include, or leave it out"
            raise spliced.error(found.start(), f"no header {shorten(name)!r}", hint)
        yield name


def shorten(text: str) -> str:
    """Return a text that a message can hold.

    >>> len(shorten("x" * 9000))
    60
    """
    return text if len(text) <= 60 else f"{text[:59]}…"


def headers(names: Sequence[str], toolkit: Toolkit) -> dict[str, str]:
    """Return the text of these headers and of all that they include, by the names they are included by."""
    found: dict[str, str] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in found or name in HOST_HEADERS:
            continue
        text, included = _header(name, toolkit)
        if len(found) >= MAX_HEADERS:
            raise CompileError(f"more than {MAX_HEADERS} headers", hint="include fewer")
        found[name] = text
        pending += included
    return {**found, **HOST_HEADERS}


@lru_cache(maxsize=8192)
def _header(name: str, toolkit: Toolkit) -> tuple[str, tuple[str, ...]]:
    """Return a header of CUDA's with every ``#include`` by its whole name, and those names.

    An include of a computed name becomes an ``#error`` where it is reached: its macros could be the user's.
    """
    file = _file(name, toolkit)
    text = "" if file is None else file.read_text(encoding="utf-8", errors="replace")
    included: list[str] = []

    def plain(match: re.Match[str]) -> str:
        if match["name"] is None:
            return "#error a header of a computed name is not available here\n//"
        wanted = _resolved(match["name"][1:-1], name, toolkit)
        included.append(wanted)
        return f"#include <{wanted}>"

    text = _HEADER_LINE.sub(plain, text)
    text = _LITERAL_ORACLE.sub(lambda m: str(int(_exists(m["name"], toolkit))), text)
    return text.replace("__has_include", MACRO), tuple(n for n in included if _exists(n, toolkit))


def _resolved(name: str, includer: str, toolkit: Toolkit) -> str:
    """Return the name from the include folders of a header named from within another."""
    parts: list[str] = []
    for part in (PurePosixPath(includer).parent / name).parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    beside = "/".join(parts)
    return beside if _file(beside, toolkit) is not None and not name.startswith("/") else name


def _exists(name: str, toolkit: Toolkit) -> bool:
    return name in HOST_HEADERS or _file(name, toolkit) is not None


@lru_cache(maxsize=16384)
def _file(name: str, toolkit: Toolkit) -> Path | None:
    """Return a header of CUDA's by its plain name, None where there is none; never a file beside them."""
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return None
    return next((file for folder in toolkit.include if (file := folder / name).is_file()), None)
