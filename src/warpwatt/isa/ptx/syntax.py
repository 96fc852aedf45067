"""Syntax of PTX as frozen values: what :func:`~warpwatt.isa.ptx.parser.parse` returns.

Operands reuse the types of :mod:`warpwatt.core.program` wherever PTX has nothing of its own, so that lowering
need not translate them. Function bodies are flat: nested scopes are marked by :class:`ScopeOpen` and
:class:`ScopeClose`, which keeps any depth of nesting cheap. Chapter numbers refer to the PTX ISA manual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from warpwatt.core.program import Address, Guard, Immediate, Register, Symbol, Vector


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations ``first|second``, such as a value and the predicate that says whether it is valid."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Bracket:
    """An address with coordinates: ``[texture, sampler, {x, y}]``, ``[tensor_map, {x, y}]``."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A parenthesised list of a call: its results or its arguments."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class SymbolOffset:
    """The address ``name + offset`` used as a value."""

    name: str
    offset: int


Operand = Register | Immediate | Symbol | Address | Vector | Pair | Bracket | Group | SymbolOffset


@dataclass(frozen=True, slots=True)
class Variable:
    """One declared name: a register, a parameter or a variable of any state space.

    Attributes
    ----------
    space
        ``reg``, ``global``, ``shared``, ``local``, ``const``, ``param``, ``tex``, ... without the dot.
    type, vector
        Element type (``b8``, ``f32``, ``pred``, ``texref``) and elements per vector (1, 2, 4, 8).
    align
        Alignment in bytes as declared, 0 if not declared.
    count
        Number of registers of a range ``%r<9>``, None for a single name.
    dimensions
        Array extents, None for an empty bracket; ``()`` for a scalar.
    pointer
        Words behind ``.ptr`` (state space and alignment), None without ``.ptr``.
    attributes
        Every other word in front of the name: ``.attribute(.managed)``, ``.volatile``.
    initialiser
        Text behind ``=`` with single blanks, or an empty string.
    """

    name: str
    space: str
    type: str
    vector: int = 1
    align: int = 0
    count: int | None = None
    dimensions: tuple[int | None, ...] = ()
    linkage: tuple[str, ...] = ()
    pointer: tuple[str, ...] | None = None
    attributes: tuple[str, ...] = ()
    initialiser: str = ""


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive kept as it stands: ``.pragma "nounroll";``, ``.alias f, g;``, ``.maxntid 128, 1, 1``.

    ``arguments`` are its words, numbers and strings without the commas.
    """

    name: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """``.file index "path"`` with an optional time stamp and size."""

    index: int
    path: str
    extra: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A debug section; ``lines`` are its statements with single blanks."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """``.callprototype``: the signature of an indirect call. Its label stands before it."""

    returns: tuple[Variable, ...]
    name: str
    parameters: tuple[Variable, ...]
    directives: tuple[Directive, ...] = ()


@dataclass(frozen=True, slots=True)
class Targets:
    """``.branchtargets`` or ``.calltargets``: where an indirect branch or call may go."""

    directive: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """``.loc file line column`` with, for inlined code, the function and the call site."""

    file: int
    line: int
    column: int
    function: str = ""
    offset: int = 0
    inlined_at: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """``name:``."""

    name: str


@dataclass(frozen=True, slots=True)
class ScopeOpen:
    """``{``: declarations and labels behind it end with the matching :class:`ScopeClose`."""


@dataclass(frozen=True, slots=True)
class ScopeClose:
    """``}``."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction as written; ``opcode`` with all its modifiers."""

    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None


Statement = (
    Instruction
    | Label
    | Variable
    | Location
    | Directive
    | File
    | Section
    | Prototype
    | Targets
    | ScopeOpen
    | ScopeClose
)


@dataclass(frozen=True, slots=True)
class Function:
    """A ``.entry`` or ``.func``; ``body`` is None for a declaration."""

    kind: str
    name: str
    parameters: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    linkage: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()
    body: Iterable[Statement] | None = None

    @property
    def is_entry(self) -> bool:
        """True for a kernel."""
        return self.kind == "entry"


Item = Variable | Function | Directive | File | Section


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX text: ``items`` in order, the ``.version``, ``.target`` and ``.address_size`` among them.

    ``text`` is what was parsed, comments blanked; ``spans`` are the characters of each item in it.
    """

    items: tuple[Item, ...]
    file: str | None = field(default=None, compare=False)
    text: str = field(default="", compare=False, repr=False)
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    def words(self, directive: str) -> tuple[str, ...]:
        """Return the arguments of the last module directive of that name, or ``()``."""
        found = (
            i.arguments for i in reversed(self.items) if isinstance(i, Directive) and i.name == directive
        )
        return next(found, ())

    @property
    def version(self) -> str:
        """PTX ISA version such as ``9.0``, empty if the text does not say."""
        return "".join(self.words(".version")[:1])

    @property
    def target(self) -> str:
        """Architecture such as ``sm_90a``, empty if the text does not say."""
        return "".join(self.words(".target")[:1])

    @property
    def functions(self) -> tuple[Function, ...]:
        """Every entry and function, declarations included, in order."""
        return tuple(item for item in self.items if isinstance(item, Function))
