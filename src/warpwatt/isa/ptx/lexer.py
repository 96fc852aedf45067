"""Characters to tokens: comments, the one lexeme pattern, and a cursor that knows its line.

Every pattern is linear in the text: none can fail after a long match and start again one character later.
"""

from __future__ import annotations

import re

from warpwatt.core.errors import ParseError

NAME = r"[A-Za-z_$%][\w$]*"
"""Pattern of an identifier (PTX ISA 4.4)."""

_NOISE = re.compile(
    r"//[^\n]*"
    r"|/\*(?s:.*?)(?:\*/|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|^[ \t]*@@DWARF[^\n]*",
    re.MULTILINE,
)
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<name>{NAME})
    | (?P<word>\.[A-Za-z_][\w$]*(?:::\w+)*)
    | (?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<mark>\S)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)


def strip_comments(text: str, file: str | None = None) -> str:
    """Return ``text`` with comments blanked; every line keeps its number.

    Raises
    ------
    ParseError
        If a comment or a string does not end.

    >>> strip_comments('add // sum')
    'add  '
    """

    def blank(match: re.Match[str]) -> str:
        noise = match[0]
        if noise[0] == '"':
            if len(noise) > 1 and noise[-1] == '"':
                return noise
            raise error_at(text, match.start(), "string without an end", file=file)
        if noise.startswith("/*"):
            if len(noise) < 4 or not noise.endswith("*/"):
                raise error_at(text, match.start(), "comment without an end", file=file)
            return " " + "\n" * noise.count("\n")
        return " "

    return _NOISE.sub(blank, text)


def error_at(
    text: str, position: int, message: str, *, file: str | None = None, first_line: int = 1, hint: str = ""
) -> ParseError:
    """Return the error for ``position`` in ``text``, whose first line has the number ``first_line``."""
    line = first_line + text.count("\n", 0, position)
    return ParseError(
        message, hint=hint or "is this PTX text, complete and unchanged?", file=file or "<ptx>", line=line
    )


class Cursor:
    """A position in comment-free text.

    Parameters
    ----------
    text, position
        Where to read.
    file, first_line
        What errors say about the place.

    >>> cursor = Cursor('.version 9.0')
    >>> cursor.take(), cursor.take(), cursor.take()
    ('.version', '9.0', '')
    """

    __slots__ = ("_known", "file", "first_line", "kind", "lexeme", "position", "text")

    def __init__(self, text: str, position: int = 0, *, file: str | None = None, first_line: int = 1) -> None:
        self.text = text
        self.file = file
        self.first_line = first_line
        self._known = (0, first_line)
        self.seek(position)

    def seek(self, position: int) -> None:
        """Read the lexeme at ``position`` into ``lexeme`` (empty at the end) and its class into ``kind``."""
        match = _TOKEN.match(self.text, position)
        assert match is not None  # every character is at least a mark
        self.kind = match.lastgroup or "end"
        self.lexeme = match[self.kind]
        self.position = match.end()

    @property
    def start(self) -> int:
        """Where the current lexeme begins."""
        return self.position - len(self.lexeme)

    def line(self) -> int:
        """Return the line of the current lexeme; cheap when asked in order."""
        position, line = self._known
        if position > self.start:
            position, line = 0, self.first_line
        line += self.text.count("\n", position, self.start)
        self._known = (self.start, line)
        return line

    def take(self) -> str:
        """Return the current lexeme and move on."""
        lexeme = self.lexeme
        self.seek(self.position)
        return lexeme

    def accept(self, lexeme: str) -> bool:
        """Move on if the current lexeme is ``lexeme``; return whether it was."""
        if self.lexeme != lexeme:
            return False
        self.seek(self.position)
        return True

    def expect(self, lexeme: str) -> None:
        """Move past ``lexeme``; raise ParseError if something else stands here."""
        if not self.accept(lexeme):
            raise self.error(f"expected {lexeme!r}, found {self.shown}")

    def name(self) -> str:
        """Return an identifier and move on; raise ParseError if none stands here."""
        if self.kind != "name":
            raise self.error(f"expected a name, found {self.shown}")
        return self.take()

    def integer(self) -> int:
        """Return a whole number and move on; raise ParseError if none stands here."""
        try:
            value = integer(self.lexeme) if self.kind == "number" else None
        except ValueError:
            value = None
        if value is None:
            raise self.error(f"expected a whole number, found {self.shown}")
        self.take()
        return value

    @property
    def shown(self) -> str:
        """The current lexeme as a message shows it."""
        return repr(self.lexeme[:40]) if self.lexeme else "the end of the text"

    def error(self, message: str, hint: str = "") -> ParseError:
        """Return a ParseError for the current lexeme."""
        return error_at(self.text, self.start, message, file=self.file, first_line=self.first_line, hint=hint)


_INTEGER = re.compile(r"0[xX]([0-9a-fA-F]+)[uU]?|0[bB]([01]+)[uU]?|(0[0-7]*)[uU]?|([1-9]\d*)[uU]?", re.ASCII)


def integer(text: str) -> int:
    """Return the value of an integer literal (PTX ISA 4.5.1); raise ValueError if it is none or too long.

    >>> integer("0x1F"), integer("017"), integer("0b101U"), integer("42")
    (31, 15, 5, 42)
    """
    match = _INTEGER.fullmatch(text)
    if match is None or len(text) > 80:
        raise ValueError(text[:40])
    for digits, base in zip(match.groups(), (16, 2, 8, 10), strict=True):
        if digits is not None:
            return int(digits, base)
    raise AssertionError(text)
