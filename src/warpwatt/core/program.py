"""A :class:`Program`, an instruction graph at one level, and the :class:`Kernel` that owns one per level.

One instruction type serves PTX, SASS and C loop nests, so that control flow, data flow, counting and the
models are written once. Front ends translate their own syntax trees into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Level(StrEnum):
    """The language of a program."""

    PTX = "ptx"
    SASS = "sass"
    C = "c"


class Unit(StrEnum):
    """The execution unit an instruction occupies."""

    FP16 = "fp16"
    FP32 = "fp32"
    FP64 = "fp64"
    INT = "int"
    SFU = "sfu"
    TENSOR = "tensor"
    LSU = "lsu"
    TEXTURE = "texture"
    CONTROL = "control"
    UNIFORM = "uniform"
    MOVE = "move"
    """Register moves, conversions of address space and other work without arithmetic."""


class Space(StrEnum):
    """A state space (PTX ISA, chapter 5)."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"
    PARAM = "param"
    GENERIC = "generic"
    TEXTURE = "texture"
    SURFACE = "surface"
    TENSOR = "tensor"
    """Tensor memory of compute capability 10.x."""


class Access(StrEnum):
    """What a memory instruction does."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    """Read-modify-write that returns the old value."""
    REDUCTION = "reduction"
    """Read-modify-write without a result."""
    COPY = "copy"
    """Asynchronous copy from global to shared memory or back (``cp.async``, ``LDGSTS``, TMA)."""
    PREFETCH = "prefetch"


class Unknown(StrEnum):
    """What to do about instructions whose opcode is not in the tables."""

    ESTIMATE = "estimate"
    """Count them and widen the interval."""
    ERROR = "error"
    SKIP = "skip"
    """Leave the interval as it is."""


class Flow(StrEnum):
    """Where control goes after an instruction."""

    NEXT = "next"
    JUMP = "jump"
    """To ``targets``; a guarded jump may also fall through. Several targets: an indirect branch."""
    CALL = "call"
    RETURN = "return"
    EXIT = "exit"
    BARRIER = "barrier"
    """Falls through once the other threads have arrived."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the user's source; ``inlined_at`` is the call site it was inlined into."""

    file: str
    line: int
    inlined_at: SourceLine | None = None

    @property
    def outermost(self) -> SourceLine:
        """The call site in the kernel itself of an inlined line; else the line itself."""
        line = self
        while line.inlined_at is not None:
            line = line.inlined_at
        return line

    @property
    def home(self) -> SourceLine:
        """The innermost of the line and its call sites that lies in the kernel's own file, alone.

        A line of a device function beside the kernel counts for itself, one of a library's header for the
        place that calls it.

        >>> library = SourceLine("math.h", 9, SourceLine("x.cu", 3, SourceLine("x.cu", 20)))
        >>> str(library.home), str(library.outermost)
        ('x.cu:3', 'x.cu:20')
        """
        line, file = self, self.outermost.file
        while line.file != file and line.inlined_at is not None:
            line = line.inlined_at
        return SourceLine(line.file, line.line)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Guard:
    """A predicate that switches an instruction on, or off if ``negated``."""

    register: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual (PTX) or machine (SASS) register, special registers such as ``%tid.x`` included.

    ``negated`` stands for ``-x`` and ``!p``. ``modifiers`` (SASS only) are what else stands around the
    name: ``abs`` for ``|x|``, ``not`` for ``~x``, then its suffixes: ``64``, ``H0_H0``, ``X4``, ``reuse``.
    """

    name: str
    negated: bool = False
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal. Floats carry their exact value; ``text`` is what stood in the program."""

    value: int | float
    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name (address) of a variable, function or label."""

    name: str


@dataclass(frozen=True, slots=True)
class Address:
    """``[base + index * scale + offset]``: base is a register, a variable's name, or absent.

    In SASS the base of a constant is the name of its bank, ``c[0x0]``, and ``modifiers`` are what stands
    around it: ``neg``, ``abs`` or ``not`` as for a register, ``desc[UR4]`` for the descriptor in front of
    a global address, ``gdesc``, ``idesc`` or ``tmem`` for the operands of tensor instructions.
    """

    base: Register | Symbol | None
    offset: int = 0
    index: Register | None = None
    scale: int = 1
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """A brace-enclosed operand ``{a, b, ...}``."""

    elements: tuple[Operand, ...]


Operand = Register | Immediate | Symbol | Address | Vector


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """The memory side of an instruction: ``bytes`` per thread, all vector elements together."""

    space: Space
    access: Access
    bytes: int


@dataclass(frozen=True, slots=True)
class ControlCode:
    """Scheduling information ptxas leaves in each instruction (Volta and later).

    ``write_barrier`` and ``read_barrier`` are 0-5 or None; ``wait_mask`` has one bit per barrier.
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction as every analysis sees it.

    Attributes
    ----------
    index
        Position in ``Program.instructions``.
    opcode
        Full spelling with modifiers: ``ld.global.v2.f32``, ``LDG.E.64``.
    operands
        In program order, destinations first where the language puts them first.
    guard
        Predicate, or None.
    writes, reads
        Names of registers written and read, guard and address registers included, without duplicates.
        A guarded write also reads its destination (the old value survives).
    unit
        Execution unit (see ``throughput_class`` for its rate).
    throughput_class
        Row of the throughput table of a compute capability; empty where none fits.
    flops
        Floating-point operations per active thread (fused multiply-add: 2; a tensor instruction: its
        share of the warp's operations divided by 32).
    memory
        What it touches, or None.
    flow, targets
        Where control goes, and the labels it may go to.
    line
        Source line, or None.
    control
        Scheduling information (SASS only).
    known
        False where the opcode table lacks the opcode: counted, and the interval widens.
    """

    index: int
    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    unit: Unit = Unit.MOVE
    throughput_class: str = ""
    flops: float = 0.0
    memory: MemoryAccess | None = None
    flow: Flow = Flow.NEXT
    targets: tuple[str, ...] = ()
    line: SourceLine | None = None
    control: ControlCode | None = None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Field:
    """A number or pointer within a structure: ``name`` as C++ writes it behind the dot, offset in bytes."""

    name: str
    offset: int
    size: int
    type: str
    pointer: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter: ``type`` is the PTX type (``u64``, ``f32``, ``b8``), ``size`` in bytes.

    ``name`` is the name in the program; ``source_name`` the user's, where it is known. ``offset`` is where it
    lies in the parameter block, or None where alignment alone says so (PTX). ``fields`` are those of a
    structure, where debug information names them.
    """

    name: str
    type: str
    size: int
    align: int
    pointer: bool = False
    source_name: str = ""
    offset: int | None = None
    fields: tuple[Field, ...] = ()

    @property
    def structure(self) -> bool:
        """Whether it is a structure passed by value: bytes, of whatever number (PTX)."""
        return self.type == "b8" and self.size > 1

    def field(self, name: str) -> Field | None:
        """Return the field of this name, or None."""
        return next((field for field in self.fields if field.name == name), None)

    def field_at(self, offset: int) -> Field | None:
        """Return the field that starts there, or None."""
        return next((field for field in self.fields if field.offset == offset), None)


@dataclass(frozen=True, slots=True)
class Variable:
    """A module- or function-scope variable; ``size`` is 0 for an unsized ``extern`` array.

    ``initial`` are the bytes it starts with, as far as they are numbers (addresses in them are zero); what
    lies behind them starts as zero. Empty where the program says nothing. ``offset`` is where a linker put
    it: bytes from the start of its constant bank or of the module's global variables; None where that is
    still open (PTX). ``address`` is where its bytes lie on the device, None where no loader has placed it.
    """

    name: str
    space: Space
    size: int
    align: int
    element: str = "b8"
    external: bool = False
    initial: bytes = b""
    offset: int | None = None
    address: int | None = None


@dataclass(frozen=True, slots=True)
class Pointer:
    """A 64-bit word that holds ``variable``'s address + ``addend``, ``offset`` bytes into a constant bank.

    ``bank`` None: into the module's global variables. The word itself means nothing until it is filled in.
    Instead of a variable it may name a function of the system, such as ``malloc``.
    """

    bank: int | None
    offset: int
    variable: str
    addend: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The instructions of one kernel or device function at one level.

    Hashed by identity, so that analyses can be cached per program; :meth:`is_same` compares the contents.
    ``labels`` maps a label to the index of the instruction behind it (``len(instructions)`` at the end).
    ``functions`` holds device functions that are called and were not inlined, by name.

    Of SASS also what it needs to run: ``address``, the byte offset of the first instruction in the kernel's
    code (other than 0 for functions behind it); ``constants``, the contents of constant banks other than 0;
    ``pointers`` in them and in global variables; ``parameter_base``, where bank 0 holds the parameters;
    ``static_shared``, bytes at the start of shared memory that variables and the system take (dynamic memory
    follows); ``stack``, bytes of local memory per thread.
    """

    name: str
    level: Level
    target: str
    """Architecture it was made for: ``sm_90``; PTX of ``compute_90`` says ``sm_90`` too."""
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    variables: tuple[Variable, ...] = ()
    functions: Mapping[str, Program] = field(default_factory=dict)
    address: int = 0
    constants: Mapping[int, bytes] = field(default_factory=dict)
    pointers: tuple[Pointer, ...] = ()
    parameter_base: int = 0
    static_shared: int = 0
    stack: int = 0
    registers: Mapping[str, str] = field(default_factory=dict)
    """Declared type of each register (PTX only): ``%p1`` -> ``pred``, of a range ``%r<>`` -> ``b32``."""

    def is_same(self, other: Program) -> bool:
        """Return whether a program, perhaps a copy that was kept on disk, has the same instructions."""
        return self is other or self._content() == other._content()

    def _content(self) -> tuple[object, ...]:
        called = {name: function.instructions for name, function in self.functions.items()}
        return self.name, self.level, self.target, self.instructions, called

    @property
    def unknown(self) -> int:
        """Number of instructions whose opcode is not in the table."""
        return sum(not i.known for i in self.instructions)

    def register_type(self, name: str) -> str:
        """Return the declared type of a register or of the vector it is a component of; empty if unknown.

        A name may carry the scope it was declared in behind ``@``; its range carries it too.

        >>> Program("k", Level.PTX, "sm_90", (), registers={"%r<>@2": "b32"}).register_type("%r7@2")
        'b32'
        """
        whole = name.partition(".")[0] if name not in self.registers else name
        base, mark, scope = whole.partition("@")
        ranged = f"{base.rstrip('0123456789')}<>{mark}{scope}"
        return self.registers.get(whole) or self.registers.get(ranged, "")


@dataclass(frozen=True, slots=True)
class Resources:
    """What one block of a kernel needs on one target.

    ``registers`` per thread; ``static_shared`` per block, ``local`` (stack) per thread, ``spill_stores``
    and ``spill_loads`` in bytes per thread. ``assumed`` is True where no compiler reported them.
    """

    registers: int
    static_shared: int = 0
    local: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    constant: int = 0
    barriers: int = 0
    max_threads: int | None = None
    """Largest block the kernel was compiled for (``__launch_bounds__``), or None."""
    assumed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One ``__global__`` entry compiled for one target.

    ``name`` is the linker's, ``demangled`` the human one. ``ptx`` or ``sass`` is None where the input
    does not hold it (a cubin has no PTX, a target without an assembler no SASS).
    """

    name: str
    demangled: str
    target: str
    resources: Resources
    ptx: Program | None = None
    sass: Program | None = None
    source: Path | None = None
    toolkit: str = ""
    """Version of the compiler that made it, such as ``13.5.37``."""
    warnings: tuple[str, ...] = ()

    @property
    def display_name(self) -> str:
        """The name people know: the demangled one, the linker's where there is none."""
        return self.demangled or self.name

    def program(self) -> Program:
        """Return the program analyses start from: PTX if there is one, else SASS."""
        program = self.ptx if self.ptx is not None else self.sass
        if program is None:
            raise ValueError(f"kernel {self.name} has no program at any level")
        return program
