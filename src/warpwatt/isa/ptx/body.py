"""The statements of a function, parsed when somebody asks for them.

A module may hold thousands of functions of which a prediction needs one, so a :class:`Body` keeps the text
between its braces and parses it on every iteration: a file of 50 MB costs its own size and nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warpwatt.core.program import Guard
from warpwatt.isa.ptx import declarations
from warpwatt.isa.ptx.lexer import NAME, Cursor, error_at
from warpwatt.isa.ptx.operands import declared_name, parse_operand, split
from warpwatt.isa.ptx.syntax import (
    Directive,
    Instruction,
    Label,
    Operand,
    Prototype,
    ScopeClose,
    ScopeOpen,
    Statement,
    Targets,
    Variable,
)

_STATEMENT = re.compile(
    rf"""\s*(?:
      (?:@\s*(!?)\s*({NAME}(?:\.\w+)?)\s+)?
      ((?>[a-z]\w*(?:(?:\.|::|(?<=\d):(?=\d))\w+)*))(?![\w$%.:]|\s*:(?!:))
      ([^;"]*);
    | (?P<label>{NAME})\s*:
    | (?P<brace>[{{}}])
    | (?P<directive>\.[A-Za-z_]\w*)
    )""",
    re.VERBOSE | re.ASCII,
)
_NESTED_COMMA = re.compile(r"[{(]|\[[^\],\[]*,")
"""Where commas may stand inside brackets, so that splitting needs care."""


class Body:
    """A function body: iterating parses it and yields :data:`~warpwatt.isa.ptx.syntax.Statement` values.

    Parameters
    ----------
    text
        What stands between the braces, without comments.
    file, first_line
        What errors say about the place.

    Two bodies are equal if their statements are.

    >>> [s.opcode for s in Body("mov.u32 %r1, 0; ret;")]
    ['mov.u32', 'ret']
    """

    __slots__ = ("file", "first_line", "text")

    def __init__(self, text: str, *, file: str | None = None, first_line: int = 1) -> None:
        self.text = text
        self.file = file
        self.first_line = first_line

    def __iter__(self) -> Iterator[Statement]:
        """Yield the statements; raise ParseError at the first that is none."""
        return _Parser(self).statements()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Body):
            return NotImplemented
        return self.text == other.text or list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # equal bodies may differ in text

    def __repr__(self) -> str:
        return f"Body(<{len(self.text)} characters>)"


class _Parser:
    """State while a body is read: which plain names are registers, and the operands seen so far."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.text = body.text
        self.registers: frozenset[str] = frozenset()
        self.outer: list[frozenset[str]] = []
        self.seen: dict[str, Operand] = {}

    def statements(self) -> Iterator[Statement]:
        """Yield every statement of the body."""
        text, match_statement, guards = self.text, _STATEMENT.match, dict[tuple[str, str], Guard]()
        position, end = 0, len(self.text.rstrip())
        while position < end:
            match = match_statement(text, position)
            if match is None:
                raise self._error(position, "not a statement")
            position = match.end()
            negated, guarded, opcode, operands = match.group(1, 2, 3, 4)
            if opcode is not None:
                guard = None
                if guarded is not None:
                    key = (negated, guarded)
                    guard = guards.get(key) or guards.setdefault(key, Guard(guarded, negated == "!"))
                yield Instruction(opcode, self._operands(operands, opcode, match.start(4)), guard)
            elif match["label"] is not None:
                yield Label(match["label"])
            elif match["brace"] is not None:
                yield self._brace(match["brace"], match.start("brace"))
            elif match["directive"] == ".loc":
                found = declarations.location(text, match.start("directive"))
                if found is None:
                    raise self._error(match.start("directive"), "malformed .loc")
                yield found[0]
                position = found[1]
            else:
                cursor = Cursor(
                    text, match.start("directive"), file=self.body.file, first_line=self.body.first_line
                )
                yield from self._directive(cursor)
                position = cursor.start
        if self.outer:
            raise self._error(end, "scope without an end", hint="a '}' is missing")

    def _operands(self, text: str, opcode: str, position: int) -> tuple[Operand, ...]:
        """Return the operands written in ``text``."""
        if not text:
            return ()
        seen = self.seen
        try:
            if _NESTED_COMMA.search(text) is None:
                parts = [part.strip() for part in text.split(",")] if not text.isspace() else []
            else:
                parts = list(split(text))
            return tuple([seen[part] if part in seen else self._operand(part, opcode) for part in parts])
        except ValueError as error:
            raise self._error(position, f"cannot read the operands of {opcode}: {error}") from error

    def _operand(self, text: str, opcode: str) -> Operand:
        """Return a new operand; remember it unless its meaning depends on the opcode."""
        if not text:
            raise ValueError("an operand is missing")
        if text[0] == "(":
            return parse_operand(text, self.registers, group=opcode.startswith("call"))
        operand = self.seen[text] = parse_operand(text, self.registers)
        return operand

    def _brace(self, brace: str, position: int) -> Statement:
        """Open or close a scope."""
        if brace == "{":
            self.outer.append(self.registers)
            return ScopeOpen()
        if not self.outer:
            raise self._error(position, "'}' without '{'")
        self._declare(self.outer.pop())
        return ScopeClose()

    def _declare(self, registers: frozenset[str]) -> None:
        """Make ``registers`` the plain names that are registers; forget operands read before."""
        if registers != self.registers:
            self.registers = registers
            self.seen.clear()

    def _directive(self, cursor: Cursor) -> Iterator[Statement]:
        """Yield what the directive at ``cursor`` declares."""
        word = cursor.lexeme
        if word == ".file":
            cursor.take()
            yield declarations.file_directive(cursor)
        elif word == ".section":
            cursor.take()
            yield declarations.section(cursor)
        elif word in {".branchtargets", ".calltargets"}:
            cursor.take()
            yield _targets(cursor, word)
        elif word == ".callprototype":
            cursor.take()
            yield _prototype(cursor)
        elif declarations.begins_declaration(word):
            yield from self._variables(cursor)
        else:
            cursor.take()
            yield declarations.words(cursor, word)

    def _variables(self, cursor: Cursor) -> Iterator[Variable]:
        """Yield a declaration's variables; plain register names count from here on."""
        found = list(declarations.variables(cursor, declarations.linkage(cursor)))
        cursor.expect(";")
        plain = {declared_name(v) for v in found if v.space == "reg" and v.name[0] != "%"}
        if plain:
            self._declare(self.registers | plain)
        yield from found

    def _error(self, position: int, message: str, hint: str = "") -> Exception:
        """Return the error for a place in the body."""
        position += len(self.text[position:]) - len(self.text[position:].lstrip())
        return error_at(
            self.text, position, message, file=self.body.file, first_line=self.body.first_line, hint=hint
        )


def _targets(cursor: Cursor, directive: str) -> Targets:
    """Return a list of labels or functions up to its semicolon."""
    names = [cursor.name()]
    while cursor.accept(","):
        names.append(cursor.name())
    cursor.expect(";")
    return Targets(directive, tuple(names))


def _prototype(cursor: Cursor) -> Prototype:
    """Return the signature behind ``.callprototype``."""
    returns = declarations.parameters(cursor)
    name = cursor.name()
    parameters = declarations.parameters(cursor)
    return Prototype(returns, name, parameters, function_directives(cursor))


def function_directives(cursor: Cursor) -> tuple[Directive, ...]:
    """Return the performance and debugging directives of a function up to ``{`` or behind ``;``.

    A numeric list has commas; a directive without them ends where the next begins.
    """
    found = []
    while cursor.kind == "word":
        name = cursor.take()
        arguments: list[str] = []
        if cursor.lexeme == "(":
            arguments.append(declarations.attribute(cursor))
        while cursor.kind in {"number", "string", "name"}:
            arguments.append(cursor.take())
            if not cursor.accept(","):
                break
        if cursor.kind == "mark" and cursor.lexeme == ";" and name == ".pragma":
            cursor.take()
        found.append(Directive(name, tuple(arguments)))
    if cursor.lexeme != "{":
        cursor.expect(";")
    return tuple(found)
