"""Kernels whose code is the same as before, though its lines have moved: their facts need no new analysis.

The PTX of a kernel without its line directives decides what the assembler makes of it, and so everything that
is predicted; the directives say which line of the source each instruction belongs to. An edit elsewhere in
the file, a comment or an empty line changes only those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from warpwatt.server.lsp.facts import AdviceFact, Facts, LineFact, Related, Remark

_ENTRY = re.compile(r"^[ \t]*(?:\.(?:visible|weak|extern)[ \t]+)*\.entry[ \t]+([\w$]+)", re.MULTILINE)
_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"((?:[^"\\\n]|\\.)*)".*$', re.MULTILINE)
_LOC = re.compile(r"^[ \t]*\.loc[ \t]+([^\n]*)$", re.MULTILINE)
_POSITION = re.compile(r"(?:^|inlined_at )(\d+) (\d+)")
_TAIL = re.compile(r"^[ \t]*\.section[ \t]", re.MULTILINE)
_COMMENT = re.compile(r"^//[^\n]*$", re.MULTILINE)
_LINE_NAMES = re.compile(r"\b([Ll]ines?) (\d+(?:(?:, | and |, and )\d+)*)")

Places = tuple[tuple[str, int], ...]
"""File and line of every line directive, in order."""


@dataclass(frozen=True, slots=True)
class Code:
    """One kernel's PTX: ``text`` without line directives, and the ``places`` they named."""

    text: str
    places: Places


@lru_cache(maxsize=8)
def entry_codes(ptx: str) -> Mapping[str, Code]:
    r"""Return linker name to code of every kernel of a module; what they share belongs to each.

    >>> ptx = '.visible .entry f(\n)\n{\n\t.loc\t1 7 3\n\tret;\n}\n.file\t1 "a.cu"\n'
    >>> entry_codes(ptx)["f"].places
    (('a.cu', 7),)
    """
    files = dict(_FILE.findall(ptx))
    end = _TAIL.search(ptx)
    body = ptx[: end.start()] if end else ptx
    starts = [match.start() for match in _ENTRY.finditer(body)]
    shared = body[: starts[0]] if starts else body
    parts = zip(starts, [*starts[1:], len(body)], strict=True)
    return {
        match[1]: _code(shared + body[first:last], files)
        for (first, last), match in zip(parts, _ENTRY.finditer(body), strict=True)
    }


def _code(text: str, files: Mapping[str, str]) -> Code:
    places = tuple(
        (files.get(number, number), int(line))
        for directive in _LOC.findall(text)
        for number, line in _POSITION.findall(re.sub(r"[\t ]+", " ", directive))
    )
    bare = _COMMENT.sub("", _FILE.sub("", _LOC.sub("", text)))
    return Code(re.sub(r"\n\s*", "\n", bare), places)


def line_map(before: Places, now: Places, own: str, own_now: str) -> Mapping[int, int] | None:
    """Return old line to new line of the document, None where the two do not correspond one to one.

    ``own`` and ``own_now`` are the names under which the compiler saw the document.

    >>> line_map((("a", 1), ("b", 2)), (("c", 4), ("b", 2)), "a", "c")
    {1: 4}
    """
    if len(before) != len(now):
        return None
    found: dict[int, int] = {}
    for (old_file, old), (new_file, new) in zip(before, now, strict=True):
        if old_file == own and new_file == own_now:
            if found.setdefault(old, new) != new:
                return None
        elif (old_file, old) != (new_file, new):
            return None
    return found if len(set(found.values())) == len(found) else None


def moved(facts: Facts, lines: Mapping[int, int]) -> Facts | None:
    """Return facts whose lines have moved; None where one is said that the map does not know."""
    if all(old == new for old, new in lines.items()):
        return facts
    try:
        return replace(
            facts,
            lines=tuple(_line(fact, lines) for fact in facts.lines),
            remarks=tuple(_remark(remark, lines) for remark in facts.remarks),
            assumptions=tuple(_with_moved_lines(text, lines) for text in facts.assumptions),
            advice=None if facts.advice is None else tuple(_advice(one, lines) for one in facts.advice),
        )
    except KeyError:
        return None


def _line(fact: LineFact, lines: Mapping[int, int]) -> LineFact:
    accesses = tuple(_with_moved_lines(text, lines) for text in fact.accesses)
    waits = tuple(_related(one, lines) for one in fact.waits)
    stalls = _with_moved_lines(fact.stalls, lines)
    return replace(fact, line=lines[fact.line], stalls=stalls, accesses=accesses, waits=waits)


def _remark(remark: Remark, lines: Mapping[int, int]) -> Remark:
    related = tuple(_related(one, lines) for one in remark.related)
    line = lines[remark.line] if remark.line else 0
    return replace(remark, line=line, text=_with_moved_lines(remark.text, lines), related=related)


def _related(one: Related, lines: Mapping[int, int]) -> Related:
    return Related(lines[one.line], _with_moved_lines(one.text, lines))


def _advice(one: AdviceFact, lines: Mapping[int, int]) -> AdviceFact:
    line = None if one.line is None else lines[one.line]
    return replace(
        one, text=_with_moved_lines(one.text, lines), fix=_with_moved_lines(one.fix, lines), line=line
    )


def _with_moved_lines(text: str, lines: Mapping[int, int]) -> str:
    """Return a sentence with the lines it names moved.

    >>> _with_moved_lines("lines 3 and 4 wait for the load of line 2", {2: 5, 3: 6, 4: 7})
    'lines 6 and 7 wait for the load of line 5'
    """
    return _LINE_NAMES.sub(lambda m: f"{m[1]} " + re.sub(r"\d+", lambda n: str(lines[int(n[0])]), m[2]), text)
