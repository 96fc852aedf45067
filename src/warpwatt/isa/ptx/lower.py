"""A parsed kernel to a :class:`~warpwatt.core.program.Program`: flat, names unique, data flow complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warpwatt.core.errors import KernelSelectionError
from warpwatt.core.program import (
    Flow,
    Guard,
    Immediate,
    Instruction,
    Level,
    MemoryAccess,
    Program,
    Symbol,
    Vector,
)
from warpwatt.core.program import Variable as CoreVariable
from warpwatt.isa.ptx import storage
from warpwatt.isa.ptx.descriptors import resolve_descriptors
from warpwatt.isa.ptx.effects import CARRY, Use, analyse_operand
from warpwatt.isa.ptx.lines import Lines
from warpwatt.isa.ptx.names import rename, rename_guard, renamed, unique_names
from warpwatt.isa.ptx.opcodes import Meaning, meaning
from warpwatt.isa.ptx.operands import declared_name
from warpwatt.isa.ptx.parser import entries
from warpwatt.isa.ptx.syntax import (
    Function,
    Group,
    Label,
    Location,
    Module,
    Operand,
    Prototype,
    ScopeClose,
    ScopeOpen,
    Statement,
    Targets,
    Variable,
)
from warpwatt.isa.ptx.syntax import Instruction as Written


def lower(module: Module, entry: str) -> Program:
    """Return the kernel (or device function) ``entry`` of ``module`` as a flat program.

    Device functions it calls or takes the address of, directly or not, stand in ``functions`` if the module
    has their bodies; that mapping is shared by all of them, so that recursion is representable.

    A ``call`` has the operands results, callee, arguments and, if indirect, prototype or target list; ``a|b``
    becomes a vector; an address with coordinates becomes the address followed by the coordinates; the carry
    flag is the register ``%cc``.

    Raises
    ------
    KernelSelectionError
        If the module has no such function with a body.
    ParseError
        If a body is malformed.

    >>> from warpwatt.isa.ptx import parse
    >>> text = ".target sm_90 .entry k(.param .u64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p]; ret; }"
    >>> program = lower(parse(text), "k")
    >>> [(i.opcode, i.writes) for i in program.instructions], program.parameters[0].size
    ([('ld.param.u64', ('%d1',)), ('ret', ())], 8)
    """
    bodies = {f.name: f for f in module.functions if f.body is not None}
    if entry not in bodies:
        raise KernelSelectionError(
            f"no kernel {entry!r} in this PTX",
            hint="choose one of: " + (", ".join(entries(module)) or "(it has no kernel with a body)"),
            file=module.file,
        )
    lines, variables = Lines(module), storage.module_variables(module)
    functions: dict[str, Program] = {}
    main, mentioned = _Lowering(bodies[entry], lines).run(module.target, variables, functions)
    waiting = [name for name in mentioned if name in bodies]
    while waiting:
        name = waiting.pop()
        if name not in functions:
            functions[name], mentioned = _Lowering(bodies[name], lines).run(
                module.target, variables, functions
            )
            waiting += [n for n in mentioned if n in bodies and n not in functions]
    return main


class _Lowering:
    """The state of one function while it is flattened."""

    def __init__(self, function: Function, lines: Lines) -> None:
        self.function = function
        self.lines = lines
        self.instructions: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.locals: list[CoreVariable] = []
        self.registers: dict[str, str] = {}
        self.symbols: dict[str, None] = {}

    def run(
        self, target: str, variables: Mapping[str, Variable], functions: Mapping[str, Program]
    ) -> tuple[Program, list[str]]:
        """Return the program and every symbol it mentions."""
        assert self.function.body is not None
        statements = list(self.function.body)
        scopes = unique_names(statements)
        self._find_tables(statements, scopes)
        self._flatten(statements, scopes)
        resolve_descriptors(self.instructions)
        used = [storage.core_variable(v) for v in storage.reachable(self.symbols, variables)]
        program = Program(
            name=self.function.name,
            level=Level.PTX,
            target=target,
            instructions=tuple(self.instructions),
            labels=self.labels,
            parameters=tuple(storage.parameter(p) for p in self.function.parameters),
            variables=(*used, *self.locals),
            functions=functions,
            registers=self.registers,
        )
        return program, list(self.symbols)

    def _find_tables(self, statements: Sequence[Statement], scopes: Sequence[Mapping[str, str]]) -> None:
        """Collect target lists and prototypes by their labels: a branch may stand in front of them."""
        label = ""
        for statement, suffixes in _with_scope(statements, scopes):
            if isinstance(statement, Label):
                label = renamed(statement.name, suffixes)
            elif isinstance(statement, Targets) and label:
                self.tables[label] = tuple(renamed(name, suffixes) for name in statement.names)
                self.symbols.update(dict.fromkeys(self.tables[label]))
            elif isinstance(statement, Prototype) and label:
                self.tables[label] = ()

    def _flatten(self, statements: Sequence[Statement], scopes: Sequence[Mapping[str, str]]) -> None:
        """Fill instructions, labels and local variables."""
        lines = self.lines
        lines.restart()
        # Operands are shared values, so each is analysed once per scope; `statements` keeps them alive.
        uses: dict[int, dict[int, Use]] = {}
        for statement, suffixes in _with_scope(statements, scopes):
            if isinstance(statement, Written):
                known = uses.setdefault(id(suffixes), {})
                guard = rename_guard(statement.guard, suffixes) if suffixes else statement.guard
                found = [known.get(id(o)) or self._use(o, suffixes, known) for o in statement.operands]
                if statement.opcode.startswith("call"):
                    found = _call_uses(statement.operands, found)
                self._append(statement.opcode, found, guard)
            elif isinstance(statement, Location):
                lines.advance(statement)
            elif isinstance(statement, Label):
                name = renamed(statement.name, suffixes)
                if name not in self.tables:
                    self.labels.setdefault(name, len(self.instructions))
            elif isinstance(statement, Variable) and statement.space == "reg":
                self.registers[renamed(declared_name(statement), suffixes)] = statement.type
            elif isinstance(statement, Variable):
                self.locals.append(storage.core_variable(statement, renamed(statement.name, suffixes)))

    def _use(self, operand: Operand, suffixes: Mapping[str, str], known: dict[int, Use]) -> Use:
        """Analyse an operand and remember the result."""
        found = analyse_operand(rename(operand, suffixes) if suffixes else operand)
        known[id(operand)] = found
        self.symbols.update(dict.fromkeys(found.symbols))
        return found

    def _append(self, opcode: str, uses: list[Use], guard: Guard | None) -> None:
        """Append one instruction."""
        what = meaning(opcode)
        writes, reads = _registers(what, uses, guard)
        operands = tuple([operand for u in uses for operand in u.operands])
        memory = what.memory if what.bytes_operand is None else _sized(what, operands)
        self.instructions.append(
            Instruction(
                len(self.instructions),
                opcode,
                operands,
                guard,
                writes,
                reads,
                what.unit,
                what.throughput_class,
                what.flops,
                memory,
                what.flow,
                () if what.flow is Flow.NEXT else self._targets(what.flow, operands),
                self.lines.current,
                None,
                what.known,
            )
        )

    def _targets(self, flow: Flow, operands: Sequence[object]) -> tuple[str, ...]:
        """Return the labels of a jump or the functions of a call."""
        names = [operand.name for operand in operands if isinstance(operand, Symbol)]
        if flow not in {Flow.JUMP, Flow.CALL} or not names:
            return ()
        # The last name of an indirect jump or call is its table; a direct one has its target alone.
        return self.tables.get(names[-1], tuple(names[:1]))


def _with_scope(
    statements: Sequence[Statement], scopes: Sequence[Mapping[str, str]]
) -> Iterator[tuple[Statement, Mapping[str, str]]]:
    """Yield every statement with the suffixes of its scope, without the marks of scopes themselves."""
    stack, opened = [scopes[0]], 0
    current = scopes[0]
    for statement in statements:
        if isinstance(statement, ScopeOpen):
            opened += 1
            current = scopes[opened]
            stack.append(current)
        elif isinstance(statement, ScopeClose):
            stack.pop()
            current = stack[-1]
        else:
            yield statement, current


def _call_uses(written: Sequence[Operand], uses: list[Use]) -> list[Use]:
    """Return the operands of a call as results, callee, arguments and the rest; absent lists are empty."""
    empty = Use((Vector(()),), ())
    if not written or not isinstance(written[0], Group):
        written, uses = (Group(()), *written), [empty, *uses]
    if len(written) < 3 or not isinstance(written[2], Group):
        uses = [*uses[:2], empty, *uses[2:]]
    return uses


def _registers(
    what: Meaning, uses: list[Use], guard: Guard | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the registers written and read, each once, in order of mention."""
    writes: list[str] = []
    reads: list[str] = []
    count = what.writes
    for operand in uses:
        if count > 0 and not operand.address:
            writes += operand.registers
            if guard is not None or what.updates or operand.partial:
                reads += operand.registers
        else:
            reads += operand.registers
        count -= 1
    if guard is not None:
        reads.append(guard.register)
    if what.reads_carry:
        reads.append(CARRY)
    if what.writes_carry:
        writes.append(CARRY)
    return _unique(writes), _unique(reads)


def _unique(names: list[str]) -> tuple[str, ...]:
    """Return names in order without repetition."""
    return tuple(names) if len(names) < 2 else tuple(dict.fromkeys(names))


def _sized(what: Meaning, operands: Sequence[object]) -> MemoryAccess | None:
    """Return the memory side with the bytes that stand in an operand; 0 where a register holds them."""
    position = what.bytes_operand
    operand = operands[position] if position is not None and position < len(operands) else None
    if what.memory is None or not isinstance(operand, Immediate) or not isinstance(operand.value, int):
        return what.memory
    return MemoryAccess(what.memory.space, what.memory.access, operand.value)
