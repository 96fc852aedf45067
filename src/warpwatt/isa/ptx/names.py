"""Unique names: PTX scopes may declare a name again; in a flat program every name means one thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warpwatt.core.program import Address, Guard, Register, Symbol, Vector
from warpwatt.isa.ptx.operands import declared_name, range_name
from warpwatt.isa.ptx.syntax import (
    Bracket,
    Group,
    Label,
    Operand,
    Pair,
    ScopeClose,
    ScopeOpen,
    Statement,
    SymbolOffset,
    Variable,
)


def unique_names(statements: Iterable[Statement]) -> list[Mapping[str, str]]:
    """Return, for each scope in order of opening, the suffixes of names that it or its outer scopes change.

    The outermost scope comes first and changes nothing. The first nested declaration keeps its name if the
    outermost scope has none like it; the second of ``x`` becomes ``x@2``. No PTX name contains ``@``.
    """
    declared, parents = _declarations(statements)
    uses: dict[str, int] = dict.fromkeys(declared[0], 1)
    suffixes: list[Mapping[str, str]] = [{}]
    for scope in range(1, len(declared)):
        own = dict(suffixes[parents[scope]])
        for name in declared[scope]:
            count = uses.get(name, 1 if range_name(name) in uses else 0) + 1
            uses[name] = count
            if count > 1:
                own[name] = f"@{count}"
        suffixes.append(own)
    return suffixes


def _declarations(statements: Iterable[Statement]) -> tuple[list[list[str]], list[int]]:
    """Return the names each scope declares, and the number of its outer scope."""
    declared: list[list[str]] = [[]]
    parents = [0]
    stack = [0]
    for statement in statements:
        kind = type(statement)
        if kind is ScopeOpen:
            parents.append(stack[-1])
            stack.append(len(declared))
            declared.append([])
        elif kind is ScopeClose:
            stack.pop()
        elif isinstance(statement, Label):
            declared[stack[-1]].append(statement.name)
        elif isinstance(statement, Variable):
            declared[stack[-1]].append(declared_name(statement))
    return declared, parents


def renamed(name: str, suffixes: Mapping[str, str]) -> str:
    """Return ``name`` with the suffix its scope gives it.

    >>> renamed("p", {"p": "@2"}), renamed("r12", {"r<>": "@3"}), renamed("q", {})
    ('p@2', 'r12@3', 'q')
    """
    suffix = suffixes.get(name)
    if suffix is None:
        suffix = suffixes.get(range_name(name), "")
    return name + suffix


def rename(operand: Operand, suffixes: Mapping[str, str]) -> Operand:  # noqa: PLR0911 - one per kind
    """Return ``operand`` with the names of its scope."""
    match operand:
        case Register(name, negated):
            base, dot, selector = name.partition(".")
            return Register(renamed(base, suffixes) + dot + selector, negated)
        case Symbol(name):
            return Symbol(renamed(name, suffixes))
        case SymbolOffset(name, offset):
            return SymbolOffset(renamed(name, suffixes), offset)
        case Address(Register() | Symbol() as base, offset):
            new = rename(base, suffixes)
            assert isinstance(new, Register | Symbol)
            return Address(new, offset)
        case Vector(elements) | Bracket(elements) | Group(elements):
            return type(operand)(tuple(rename(element, suffixes) for element in elements))  # type: ignore[misc] # renaming keeps each element's kind
        case Pair(first, second):
            return Pair(rename(first, suffixes), rename(second, suffixes))
    return operand


def rename_guard(guard: Guard | None, suffixes: Mapping[str, str]) -> Guard | None:
    """Return ``guard`` with the names of its scope."""
    return None if guard is None else Guard(renamed(guard.register, suffixes), guard.negated)
