"""What nvdisasm says about instruction words that stand in no program."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from warpwatt.frontend import toolchain

BATCH = 60_000
"""Words asked about at once."""
_ILLEGAL = re.compile(rb"at address 0x([0-9a-f]+)")
_NOP = 0x000FC00000000000_0000000000007918
_TOKEN = re.compile(
    r"(?<![\w.])(?:(?P<register>(?P<file>UR|R|UP|P|UB|B|SB)(?P<number>\d+|Z|T))(?!\w)|(?P<integer>\+?-?0x[0-9a-f]+)"
    r"|(?P<literal>[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|[QS]NAN)(?: |(?![\w.]))))"
    r"|(?P<offset>\+-?0x[0-9a-f]+)"
)
DOUBTFUL = re.compile(r"INVALID|\?\?|^$")
"""What stands in texts of words that no compiler writes."""
_RELATIVE = re.compile(r"(BRA|BSSY|WARPSYNC\.COLLECTIVE|LEPC|CALL\.REL|RET\.REL)\b")
"""Opcodes whose last operand, where it is a number, is printed as the address of the target."""


@dataclass(frozen=True, slots=True)
class Token:
    """A number or register in an operand: ``kind`` as fields have it (``f`` for every literal), its text."""

    kind: str
    text: str

    @property
    def number(self) -> int | None:
        """The number printed; None for literals, the zero register and the true predicate."""
        if self.kind == "f":
            return None
        digits = self.text.removeprefix(self.kind)
        if self.kind in ("x", "o", "t"):
            return int(self.text.removeprefix("+"), 16)
        return int(digits) if digits.isdigit() else None


@dataclass(frozen=True, slots=True)
class Sample:
    """A word, its byte address when asked, and predicate, opcode and operands: whole, with ``{}``, tokens."""

    word: int
    address: int
    printed: tuple[str, ...]
    texts: tuple[str, ...]
    tokens: tuple[tuple[Token, ...], ...]


def ask(words: Sequence[int], architecture: str) -> list[tuple[str, str, str] | None]:
    """Return predicate, opcode and operands of each word; None where nvdisasm calls it illegal.

    Word i stands at byte 16·i. ``architecture`` is such as ``SM90a``.
    """
    illegal: set[int] = set()
    while True:
        code = [_NOP if i in illegal else word for i, word in enumerate(words)]
        outcome = _run(b"".join(word.to_bytes(16, "little") for word in code), architecture)
        if not outcome.returncode:
            break
        found = {int(m, 16) // 16 for m in _ILLEGAL.findall(outcome.stderr)} - illegal
        if not found:
            raise RuntimeError(outcome.stderr.decode(errors="replace"))
        illegal |= found
    rows = json.loads(outcome.stdout)[1][0]["sass-instructions"]
    return [
        None if i in illegal else (row.get("predicate", ""), row["opcode"], row.get("operands", ""))
        for i, row in enumerate(rows)
    ]


def _run(code: bytes, architecture: str) -> subprocess.CompletedProcess[bytes]:
    tool = toolchain.installed().require("nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        return subprocess.run(
            [tool, "-b", architecture, "-json", file.name], capture_output=True, check=False
        )


def observe(words: Sequence[int], architecture: str) -> list[Sample | None]:
    """Return a sample of each word; None for illegal ones, and for those that nvdisasm prints with doubts."""
    found: list[Sample | None] = []
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        for i, (word, text) in enumerate(zip(part, ask(part, architecture), strict=True)):
            found.append(
                None if text is None or DOUBTFUL.search(text[1] + text[2]) else sample(word, 16 * i, *text)
            )
    return found


def sample(word: int, address: int, predicate: str, opcode: str, operands: str) -> Sample:
    """Return a sample of what nvdisasm prints."""
    printed = (predicate, opcode, *split(operands))
    parts = [(text, ()) if i == 1 else _parse(text) for i, text in enumerate(printed)]
    if _RELATIVE.match(opcode) and parts[-1][0] == "{x}":
        parts[-1] = "{t}", (Token("t", parts[-1][1][0].text),)
    return Sample(
        word, address, printed, tuple(text for text, _ in parts), tuple(tokens for _, tokens in parts)
    )


def split(operands: str) -> list[str]:
    """Return the comma-separated parts of an operand list; commas within brackets do not count."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(operands):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            parts.append(operands[start:at])
            start = at + 1
    return [*parts, operands[start:]] if operands else []


def _parse(text: str) -> tuple[str, tuple[Token, ...]]:
    """Return an operand with {kind} for each token, and the tokens; lists in braces stay as they are."""
    if "{" in text:
        return text, ()
    tokens = []

    def token(found: re.Match[str]) -> str:
        if found["register"]:
            tokens.append(Token(found["file"], found["register"]))
        elif found["literal"]:
            tokens.append(Token("f", found["literal"]))
        else:
            tokens.append(Token("o" if found[0].startswith("+") else "x", found[0]))
        return f"{{{tokens[-1].kind}}}"

    return _TOKEN.sub(token, text), tuple(tokens)
