"""A module back to PTX text, the parser's oracle: ``parse(print_module(m)) == m`` for every parsed module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Immediate, Register, Symbol, Vector
from warpwatt.isa.ptx.syntax import (
    Bracket,
    Directive,
    File,
    Function,
    Group,
    Instruction,
    Label,
    Location,
    Pair,
    Prototype,
    ScopeClose,
    ScopeOpen,
    Section,
    SymbolOffset,
    Targets,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warpwatt.isa.ptx.syntax import Item, Module, Operand, Statement

_HEADER = frozenset({".version", ".target", ".address_size"})


def print_module(module: Module) -> str:
    """Return ``module`` as PTX text.

    Raises
    ------
    ParseError
        If a function body, which is parsed only now, is malformed.

    >>> from warpwatt.isa.ptx import parse
    >>> print(print_module(parse(".version 9.0 .target sm_90 .entry k(){ add.s32 %r1,%r2,-1; ret; }")))
    .version 9.0
    .target sm_90
    .entry k()
    {
        add.s32 %r1, %r2, -1;
        ret;
    }
    <BLANKLINE>
    """
    return "".join(line + "\n" for item in module.items for line in _item(item))


def _item(item: Item) -> Iterator[str]:
    """Yield the lines of one item of the module."""
    if isinstance(item, Function):
        yield from _function(item)
    elif isinstance(item, Directive) and item.name in _HEADER:
        yield f"{item.name} {', '.join(item.arguments)}"
    else:
        yield _statement(item)


def _function(function: Function) -> Iterator[str]:
    """Yield the lines of a function."""
    words = [*function.linkage, "." + function.kind, *function.attributes]
    if function.returns:
        words.append(f"({_parameters(function.returns)})")
    yield f"{' '.join(words)} {function.name}({_parameters(function.parameters)})"
    yield from map(_performance, function.directives)
    if function.body is None:
        yield ";"
        return
    yield "{"
    for statement in function.body:
        indent = "" if isinstance(statement, Label) else "    "
        yield indent + _statement(statement)
    yield "}"


def _performance(directive: Directive) -> str:
    """Return a directive of a function: no semicolon, but behind a pragma."""
    text = f"{directive.name} {', '.join(directive.arguments)}".rstrip()
    return text + ";" if directive.name == ".pragma" else text


def _parameters(variables: Iterable[Variable]) -> str:
    """Return declarations as a list of parameters."""
    return ", ".join(map(_declaration, variables))


def _declaration(variable: Variable) -> str:
    """Return a declaration without its semicolon."""
    words = [*variable.linkage, "." + variable.space, *variable.attributes]
    if variable.align:
        words.append(f".align {variable.align}")
    if variable.vector != 1:
        words.append(f".v{variable.vector}")
    words.append("." + variable.type)
    if variable.pointer is not None:
        words += [".ptr", *variable.pointer]
    name = variable.name
    if variable.count is not None:
        name += f"<{variable.count}>"
    name += "".join("[]" if extent is None else f"[{extent}]" for extent in variable.dimensions)
    if variable.initialiser:
        name += f" = {variable.initialiser}"
    return " ".join([*words, name])


def _statement(statement: Statement) -> str:
    """Return one statement of a body."""
    match statement:
        case Instruction():
            return _instruction(statement)
        case Label(name):
            return name + ":"
        case Variable():
            return _declaration(statement) + ";"
        case Location():
            return _location(statement)
        case File(index, path, extra):
            return ", ".join([f'.file {index} "{path}"', *map(str, extra)])
        case Section(name, lines):
            return "\n".join([f".section {name} {{", *lines, "}"])
        case Prototype():
            return _prototype(statement)
        case Targets(directive, names):
            return f"{directive} {', '.join(names)};"
        case ScopeOpen():
            return "{"
        case ScopeClose():
            return "}"
        case Directive(name, arguments):
            return f"{name} {' '.join(arguments)};"


def _location(location: Location) -> str:
    """Return ``.loc``."""
    text = f".loc {location.file} {location.line} {location.column}"
    if location.function:
        text += f", function_name {location.function}"
        if location.offset:
            text += f" + {location.offset}"
    if location.inlined_at is not None:
        text += ", inlined_at {} {} {}".format(*location.inlined_at)
    return text


def _prototype(prototype: Prototype) -> str:
    """Return ``.callprototype``."""
    returns = f"({_parameters(prototype.returns)}) " if prototype.returns else ""
    directives = "".join(" " + _performance(d) for d in prototype.directives)
    return f".callprototype {returns}{prototype.name} ({_parameters(prototype.parameters)}){directives};"


def _instruction(instruction: Instruction) -> str:
    """Return an instruction with guard and operands."""
    guard = instruction.guard
    prefix = "" if guard is None else f"@{'!' * guard.negated}{guard.register} "
    operands = ", ".join(map(_operand, instruction.operands))
    return f"{prefix}{instruction.opcode} {operands}".rstrip() + ";"


def _operand(operand: Operand) -> str:
    """Return an operand as PTX writes it."""
    match operand:
        case Register(name, negated):
            return "!" + name if negated else name
        case Immediate(_, text):
            return text
        case Symbol(name):
            return name
        case Address():
            return _address(operand)
        case Vector(elements):
            return "{" + ", ".join(map(_operand, elements)) + "}"
        case Pair(first, second):
            return f"{_operand(first)}|{_operand(second)}"
        case Bracket(elements):
            return "[" + ", ".join(map(_operand, elements)) + "]"
        case Group(elements):
            return "(" + ", ".join(map(_operand, elements)) + ")"
        case SymbolOffset(name, offset):
            return f"{name}+{offset}"


def _address(address: Address) -> str:
    """Return an address without coordinates."""
    if address.base is None:
        return f"[{address.offset}]"
    return f"[{_operand(address.base)}{f'+{address.offset}' if address.offset else ''}]"
