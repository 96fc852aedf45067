"""Declarations of variables, registers and parameters, and the small directives (PTX ISA 5.4 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from warpwatt.isa.ptx.lexer import NAME, Cursor
from warpwatt.isa.ptx.syntax import Directive, File, Location, Section, Variable

LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
SPACES = frozenset({".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex", ".surf"})
_SPACE = re.compile(r"\.(reg|sreg|const|global|local|param|shared|tex|surf)(?:::\w+)*", re.ASCII)
_TYPE = re.compile(
    r"\.((?:b|u|s)(?:8|16|32|64|128)|f16x2|f32x2|f16|f32|f64|bf16x2|bf16|tf32|e4m3|e5m2|e2m3|e3m2|e2m1|ue8m0"
    r"|e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2|ue8m0x2|b8x16|b4x16|b6x16|b1024|pred|texref|samplerref|surfref)",
    re.ASCII,
)
_VECTOR = re.compile(r"\.v([248])", re.ASCII)


def linkage(cursor: Cursor) -> tuple[str, ...]:
    """Return the linking words that stand here."""
    words = []
    while cursor.lexeme in LINKAGE:
        words.append(cursor.take())
    return tuple(words)


def begins_declaration(word: str) -> bool:
    """Return whether a directive begins the declaration of a variable."""
    return word in LINKAGE or word.partition("::")[0] in SPACES


def variables(cursor: Cursor, linking: tuple[str, ...] = ()) -> Iterator[Variable]:
    """Yield the variables of one declaration up to, and without, what follows the last name.

    Raises
    ------
    ParseError
        If no declaration stands here.
    """
    head = _head(cursor, linking)
    yield _one(cursor, head)
    while cursor.accept(","):
        yield _one(cursor, head)


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """Return the parenthesised list of parameters that stands here; ``()`` if none does."""
    if not cursor.accept("("):
        return ()
    found: list[Variable] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        found.append(_one(cursor, _head(cursor, ())))
    return tuple(found)


def _head(cursor: Cursor, linking: tuple[str, ...]) -> Variable:
    """Return everything in front of a name, as a variable without a name."""
    space = type_ = ""
    vector, align = 1, 0
    pointer: list[str] | None = None
    attributes: list[str] = []
    while cursor.kind == "word":
        word = cursor.take()
        if pointer is not None and word != ".align":
            pointer.append(word)
        elif word == ".align":
            value = cursor.integer()
            if pointer is None:
                align = value
            else:
                pointer += [word, str(value)]
        elif not space and _SPACE.fullmatch(word):
            space = word[1:] + _bank(cursor)
        elif not type_ and (match := _TYPE.fullmatch(word)):
            type_ = match[1]
        elif match := _VECTOR.fullmatch(word):
            vector = int(match[1])
        elif word == ".ptr":
            pointer = []
        elif word == ".attribute":
            attributes.append(word + attribute(cursor))
        elif _SPACE.fullmatch(word) or _TYPE.fullmatch(word):
            raise cursor.error(f"{word} is one space or type too many", hint="is a ';' missing before it?")
        else:
            attributes.append(word)
    if not space or not type_:
        raise cursor.error(f"expected a declaration, found {cursor.shown}")
    pointed = None if pointer is None else tuple(pointer)
    return Variable(
        "", space, type_, vector, align, linkage=linking, pointer=pointed, attributes=tuple(attributes)
    )


def _bank(cursor: Cursor) -> str:
    """Return the bank of ``.const[2]`` (PTX ISA before 2.2), else an empty string."""
    if not cursor.accept("["):
        return ""
    bank = cursor.integer()
    cursor.expect("]")
    return f"[{bank}]"


def attribute(cursor: Cursor) -> str:
    """Return the parenthesised arguments of ``.attribute`` without blanks."""
    cursor.expect("(")
    parts = ["("]
    depth = 1
    while depth:
        if cursor.kind == "end":
            raise cursor.error("attribute without an end")
        depth += {"(": 1, ")": -1}.get(cursor.lexeme, 0)
        parts.append(cursor.take())
    return "".join(parts)


def _one(cursor: Cursor, head: Variable) -> Variable:
    """Return the variable whose name stands here."""
    name = cursor.name()
    count = None
    if cursor.accept("<"):
        count = cursor.integer()
        cursor.expect(">")
    dimensions: list[int | None] = []
    while cursor.accept("["):
        dimensions.append(None if cursor.lexeme == "]" else cursor.integer())
        cursor.expect("]")
    initialiser = _initialiser(cursor) if cursor.accept("=") else ""
    return replace(head, name=name, count=count, dimensions=tuple(dimensions), initialiser=initialiser)


_END_OF_INITIALISER = re.compile(r"[{}();,]")


def _initialiser(cursor: Cursor) -> str:
    """Return the text behind ``=`` up to the comma or semicolon outside brackets, with single blanks."""
    depth = 0
    for match in _END_OF_INITIALISER.finditer(cursor.text, cursor.start):
        mark = match[0]
        if mark == ";" or (mark == "," and depth == 0):
            if depth:
                break
            text = " ".join(cursor.text[cursor.start : match.start()].split())
            if not text:
                break
            cursor.seek(match.start())
            return text
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(mark, 0)
        if depth < 0:
            break
    raise cursor.error("initialiser without an end", hint="close its braces and end it with ';'")


def file_directive(cursor: Cursor) -> File:
    """Return ``.file`` behind its name: ``index "path" [, time, size]``."""
    index = cursor.integer()
    if cursor.kind != "string":
        raise cursor.error(f"expected the name of a file, found {cursor.shown}")
    path = cursor.take()[1:-1]
    extra = []
    while cursor.accept(","):
        extra.append(cursor.integer())
    cursor.accept(";")
    return File(index, path, tuple(extra))


_LOCATION = re.compile(
    rf"\.loc\s+(\d{{1,10}}+)\s+(\d{{1,10}}+)(?:\s+(\d{{1,10}}+))?+"
    rf"(?:\s*,\s*function_name\s+({NAME})(?:\s*\+\s*(\d{{1,10}}+))?+)?+"
    r"(?:\s*,\s*inlined_at\s+(\d{1,10}+)\s+(\d{1,10}+)\s+(\d{1,10}+))?+(?!\w|\s*,)\s*;?",
    re.ASCII,
)


def location(text: str, position: int) -> tuple[Location, int] | None:
    """Return the ``.loc`` at ``position`` (PTX ISA 11.5.3) and where it ends, None if it is malformed."""
    match = _LOCATION.match(text, position)
    if match is None:
        return None
    file, line, column, function, offset, *site = match.groups()
    inlined = (int(site[0]), int(site[1]), int(site[2])) if site[0] else None
    where = Location(int(file), int(line), int(column or 0), function or "", int(offset or 0), inlined)
    return where, match.end()


def section(cursor: Cursor) -> Section:
    """Return ``.section`` behind its name: ``name { lines }``."""
    name = cursor.take()
    if cursor.lexeme != "{":
        raise cursor.error(f"expected '{{', found {cursor.shown}")
    end = cursor.text.find("}", cursor.position)
    if end < 0:
        raise cursor.error("section without an end")
    lines = tuple(" ".join(line.split()) for line in cursor.text[cursor.position : end].splitlines())
    cursor.seek(end + 1)
    return Section(name, tuple(line for line in lines if line))


def words(cursor: Cursor, name: str) -> Directive:
    """Return a directive that ends with a semicolon; ``cursor`` stands behind its name."""
    arguments = []
    while cursor.lexeme != ";":
        if cursor.kind == "end" or cursor.lexeme in {"{", "}"}:
            raise cursor.error(f"{name} without an end", hint="end it with ';'")
        lexeme = cursor.take()
        if lexeme != ",":
            arguments.append(lexeme)
    cursor.take()
    return Directive(name, tuple(arguments))
