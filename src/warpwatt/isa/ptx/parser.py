"""PTX text to a :class:`~warpwatt.isa.ptx.syntax.Module` (PTX ISA, chapters 4, 5 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwatt.isa.ptx import declarations
from warpwatt.isa.ptx.body import Body, function_directives
from warpwatt.isa.ptx.lexer import Cursor, strip_comments
from warpwatt.isa.ptx.syntax import Directive, Function, Item, Module, Section

_BRACE = re.compile(r'[{}]|"(?:[^"\\\n]|\\.)*"')


def parse(text: str, file: str | None = None) -> Module:
    """Return the module written in ``text``.

    Function bodies are only delimited here; they are parsed when they are iterated, lowered, printed or
    compared, and what is wrong in them is raised then.

    Parameters
    ----------
    text
        PTX, as a compiler or a person wrote it.
    file
        Where it came from, for messages.

    Raises
    ------
    ParseError
        If the text is not PTX; names file, line and a hint.

    >>> module = parse(".version 9.0 .target sm_90 .address_size 64 .entry k() { ret; }")
    >>> module.target, [f.name for f in module.functions]
    ('sm_90', ['k'])
    """
    file = file or None
    cursor = Cursor(strip_comments(text.rstrip("\0"), file), file=file)
    found = tuple(_items(cursor))
    return Module(tuple(i for i, _ in found), file, cursor.text, tuple(span for _, span in found))


def entries(module: Module) -> tuple[str, ...]:
    """Return the names of the kernels that have a body, in order, without repetition."""
    return tuple(dict.fromkeys(f.name for f in module.functions if f.is_entry and f.body is not None))


def text_of(module: Module, entry: str) -> str:
    """Return the text of one kernel of a module with all it may need; every line keeps its number.

    The other kernels are blanked, and so are debug sections, which refer to them.

    >>> text = ".version 8.0 .target sm_75 .entry a() { ret; } .func f() { ret; } .entry b() { ret; }"
    >>> text_of(parse(text), "b")
    '.version 8.0 .target sm_75 .func f() { ret; } .entry b() { ret; }'
    """
    text, kept, at = module.text, list[str](), 0
    for item, (start, end) in zip(module.items, module.spans, strict=True):
        if isinstance(item, Section) or (isinstance(item, Function) and item.is_entry and item.name != entry):
            kept += [text[at:start], "\n" * text.count("\n", start, end)]
            at = end
    return "".join([*kept, text[at:]])


def _items(cursor: Cursor) -> Iterator[tuple[Item, tuple[int, int]]]:
    """Yield the items of the module with the characters they take."""
    while cursor.kind != "end":
        if cursor.accept(";"):
            continue
        if cursor.kind != "word":
            raise cursor.error(f"expected a directive, found {cursor.shown}")
        start = cursor.start
        for item in tuple(_item(cursor)):
            yield item, (start, cursor.start)


def _item(cursor: Cursor) -> Iterator[Item]:
    """Yield what the directive at ``cursor`` declares."""
    word = cursor.lexeme
    if word in {".entry", ".func"} or declarations.begins_declaration(word):
        yield from _linked(cursor)
        return
    cursor.take()
    if word == ".file":
        yield declarations.file_directive(cursor)
    elif word == ".section":
        yield declarations.section(cursor)
    elif word in {".version", ".target", ".address_size"}:
        yield _header(cursor, word)
    elif word in {".pragma", ".alias"}:
        yield declarations.words(cursor, word)
    else:
        raise cursor.error(
            f"unknown directive {word!r} at the level of the module",
            hint="the parser knows PTX ISA 9.x; is this PTX text, complete and unchanged?",
        )


def _header(cursor: Cursor, word: str) -> Directive:
    """Return ``.version``, ``.target`` or ``.address_size`` with its values."""
    if cursor.kind not in {"name", "number"}:
        raise cursor.error(f"expected the value of {word}, found {cursor.shown}")
    values = [cursor.take()]
    while cursor.accept(","):
        values.append(cursor.name())
    return Directive(word, tuple(values))


def _linked(cursor: Cursor) -> Iterator[Item]:
    """Yield the function or the variables that begin here, linking words first."""
    linking = declarations.linkage(cursor)
    if cursor.lexeme in {".entry", ".func"}:
        yield _function(cursor, linking)
        return
    yield from declarations.variables(cursor, linking)
    cursor.expect(";")


def _function(cursor: Cursor, linking: tuple[str, ...]) -> Function:
    """Return the function that begins here, its body as text."""
    kind = cursor.take()[1:]
    attributes = []
    while cursor.kind == "word":
        word = cursor.take()
        attributes.append(word + declarations.attribute(cursor) if cursor.lexeme == "(" else word)
    returns = declarations.parameters(cursor)
    name = cursor.name()
    params = declarations.parameters(cursor)
    directives = function_directives(cursor)
    body = _body(cursor) if cursor.lexeme == "{" else None
    return Function(kind, name, params, returns, linking, tuple(attributes), directives, body)


def _body(cursor: Cursor) -> Body:
    """Return the text up to the brace that closes the one at ``cursor``."""
    begin, line = cursor.position, cursor.line()
    depth = 0
    for match in _BRACE.finditer(cursor.text, cursor.start):
        mark = match[0]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                cursor.seek(match.end())
                return Body(cursor.text[begin : match.start()], file=cursor.file, first_line=line)
    raise cursor.error("function without an end", hint="the text ends too early: a '}' is missing")
