"""Lines and positions of a document as the protocol counts them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types
from pygls.workspace import PositionCodec, TextDocument, Workspace

from warpwatt.server.lsp.source import plain_lines

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class PlainDocument(TextDocument):
    r"""A document whose lines end where the protocol says: at ``\n``, ``\r\n`` and ``\r``, nowhere else.

    Python's own idea of lines includes form feeds and Unicode separators; edits would go astray.
    """

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends."""
        return tuple(_LINE.findall(self.source))


class PlainWorkspace(Workspace):
    """A workspace of :class:`PlainDocument`."""

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> TextDocument:
        return PlainDocument(
            doc_uri, source, version, language_id, True, self._sync_kind, self.position_codec
        )


@dataclass(frozen=True)
class Text:
    r"""A text with ``\n`` line ends, and ranges in it in the client's units. Lines count from 1."""

    text: str
    codec: PositionCodec

    @classmethod
    def of(cls, source: str, codec: PositionCodec) -> Text:
        """Return the text of a document."""
        return cls(plain_lines(source), codec)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.split("\n")

    def line(self, number: int) -> str:
        """Return a line; empty beyond the text."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def range(self, line: int, first: int, last: int) -> types.Range:
        """Return columns ``first`` to ``last`` (code points) of a line; the last line beyond the text."""
        number = min(max(line, 1), len(self.lines))
        content = self.lines[number - 1]
        units = self.codec.client_num_units
        return types.Range(
            types.Position(number - 1, units(content[:first])),
            types.Position(number - 1, units(content[:last])),
        )

    def whole(self, line: int) -> types.Range:
        """Return a line without its blanks and the comment behind it."""
        content = self.line(line)
        code = re.sub(r"\s*//.*$", "", content) or content
        return self.range(line, len(content) - len(content.lstrip()), len(code.rstrip()))

    def word(self, line: int, word: str) -> types.Range:
        """Return where a word stands in a line, the whole line where it does not."""
        found = re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", self.line(line))
        return self.range(line, *found.span()) if found else self.whole(line)

    def end(self, line: int) -> types.Position:
        """Return the end of a line."""
        return self.range(line, 0, len(self.line(line))).end

    def start(self, line: int) -> types.Position:
        """Return the start of a line, which may be the one behind the last."""
        return types.Position(line - 1, 0)


def still(before: str, now: str) -> dict[int, int]:
    r"""Return the lines of ``before`` that an edit left as they are, and where they are now.

    >>> still("a\nb\nc", "a\nx\ny\nc")
    {1: 1, 3: 4}
    """
    old, new = before.split("\n"), now.split("\n")
    shorter = min(len(old), len(new))
    first = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - first
    last = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    kept = {line: line for line in range(1, first + 1)}
    shift = len(new) - len(old)
    return kept | {line: line + shift for line in range(len(old) - last + 1, len(old) + 1)}
