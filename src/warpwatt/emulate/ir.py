"""The micro-operations that PTX and SASS are lifted to: one language for every engine and analysis.

A :class:`Routine` is a kernel as basic blocks of :class:`Operation`. Within a block, values are in single
assignment form; between blocks they live in named registers. An operation works on all 32 lanes of a warp
alike. Values that are the same in all active lanes are *uniform*: an engine may keep them as scalars.

Inactive lanes compute garbage, so no operation may trap: division by zero and shifts beyond the width have
defined results. What can be seen from outside (memory, registers, votes) honours the active lanes and,
where it has one, the operation's ``mask``.

Three consumers execute the same routine: the native engine (compiled, fast), the NumPy reference (slow and
plain, the oracle) and the slicer that keeps only what addresses and branches depend on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from warpwatt.core.program import Program

_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "f32": 32, "f64": 64}


class Type(StrEnum):
    """Type of a value in each lane. Integers have no sign; bf16 and the 8-bit floats are held as integers."""

    I1 = "i1"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    F16 = "f16"
    F32 = "f32"
    F64 = "f64"

    @property
    def bits(self) -> int:
        """Width in bits.

        >>> Type.F16.bits
        16
        """
        return _BITS[self]

    @property
    def is_float(self) -> bool:
        """Whether arithmetic is floating point."""
        return self in _FLOATS


_FLOATS = frozenset({Type.F16, Type.F32, Type.F64})


class Op(StrEnum):
    """Kinds of operations. Arguments are values in order; ``data`` is what else is fixed at lift time.

    ``T`` stands for the type of the result, which is the type of the arguments unless noted.
    """

    CONST = "const"
    """data: int or float. Integers wrap to the width; the result is uniform."""
    GET = "get"
    """data: register name. Its value when the block began, or as last set in it."""
    SET = "set"
    """args: value (mask). data: register name. Lanes whose mask is 0 keep the old value."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    """Shifts take an amount of the same type, unsigned: from the width on, the result is 0."""
    LSHR = "lshr"
    ASHR = "ashr"
    """From the width on, the result is the sign in every bit."""
    UDIV = "udiv"
    """By zero: all ones, the remainder is the dividend. Minimum / -1 is the minimum, remainder 0."""
    SDIV = "sdiv"
    UREM = "urem"
    SREM = "srem"
    UMIN = "umin"
    UMAX = "umax"
    SMIN = "smin"
    SMAX = "smax"
    POPC = "popc"
    CLZ = "clz"
    """The width for 0."""
    BREV = "brev"

    EQ = "eq"
    """Integer comparisons; the result is I1."""
    NE = "ne"
    SLT = "slt"
    SLE = "sle"
    ULT = "ult"
    ULE = "ule"

    FADD = "fadd"
    """data, for FADD to FSQRT: rounding "rn" (nearest even), "rz", "rm" (down) or "rp" (up)."""
    FSUB = "fsub"
    FMUL = "fmul"
    FDIV = "fdiv"
    FMA = "fma"
    """Rounded once."""
    FSQRT = "fsqrt"
    FNEG = "fneg"
    """Flips the sign bit, of NaN too."""
    FABS = "fabs"
    FMIN = "fmin"
    """The other argument where one is NaN; -0 < +0."""
    FMAX = "fmax"
    FFLOOR = "ffloor"
    FCEIL = "fceil"
    FTRUNC = "ftrunc"
    FRINT = "frint"
    """Nearest integer, ties to even."""
    FEQ = "feq"
    """Ordered: false where an argument is NaN; the result is I1."""
    FLT = "flt"
    FLE = "fle"
    FUNO = "funo"
    """An argument is NaN."""

    ZEXT = "zext"
    """To the wider integer type T."""
    SEXT = "sext"
    TRUNC = "trunc"
    """To the narrower integer type T; to I1: the lowest bit."""
    BITCAST = "bitcast"
    """Between types of one width."""
    SITOFP = "sitofp"
    """Integer to float T; data: rounding."""
    UITOFP = "uitofp"
    FPTOSI = "fptosi"
    """Float to integer T, towards zero, saturating; NaN gives 0."""
    FPTOUI = "fptoui"
    FPEXT = "fpext"
    FPTRUNC = "fptrunc"
    """data: rounding."""
    SELECT = "select"
    """args: I1 condition, value if true, value if false."""
    MATH = "math"
    """data: function of one argument, by its name: rcp rsqrt sqrt ex2 lg2 sin cos tanh. T is F32 or F64."""

    LANE = "lane"
    """The lane's number 0-31, I32."""
    SPECIAL = "special"
    """data: name, one of :data:`SPECIALS`. I32 unless noted."""
    ACTIVE = "active"
    """Bit mask of the active lanes, uniform I32."""
    BALLOT = "ballot"
    """args: I1. Bit mask of the active lanes where it is true, uniform I32."""
    SHUFFLE = "shuffle"
    """args: value, I32 lane number (taken modulo 32). That lane's value, be it active or not."""
    MATCH = "match"
    """args: value. Bit mask of the active lanes with the same value, I32."""
    REDUCE = "reduce"
    """args: value (mask). data: an Op such as ADD, UMAX, AND. Over active lanes, uniform."""

    LOAD = "load"
    """args: address (mask). data: Memory. As many results of type T as its count; where masked off, 0."""
    STORE = "store"
    """args: address, values..., (mask). data: Memory."""
    ATOMIC = "atomic"
    """args: address, operands..., (mask). data: Memory (``operation``: :data:`ATOMICS`). The old value."""
    BULK = "bulk"
    """args: shared address, other address, I32 bytes, barrier object's shared address, I32 mask of blocks,
    coordinates..., (mask). data: Memory (``bulk``). Each lane that is on has the tensor memory accelerator
    make a copy, which is done at once; see :data:`BULK_COPIES`."""
    CALL = "call"
    """A runtime function; args: values, (mask). data: (name, constants). Any number of results."""

    COUNT = "count"
    """args: I1. data: index of an instruction. Active lanes where it holds count as the instruction's."""


SPECIALS = (
    "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z",
    "nctaid.x", "nctaid.y", "nctaid.z", "warpid", "nwarpid", "smid", "nsmid", "gridid",
    "clusterid.x", "clusterid.y", "clusterid.z", "nclusterid.x", "nclusterid.y", "nclusterid.z",
    "cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z", "cluster_nctaid.x", "cluster_nctaid.y",
    "cluster_nctaid.z", "cluster_ctarank", "cluster_nctarank",
    "dynamic_smem_size", "total_smem_size", "clock", "clock64", "globaltimer",
)  # fmt: skip
"""Special values of a thread. All but ``tid.*`` are uniform; ``clock64`` and ``globaltimer`` are I64."""

ATOMICS = ("add", "min", "max", "umin", "umax", "and", "or", "xor", "exch", "cas", "inc", "dec")
"""Operations of ATOMIC; ``min`` and ``max`` of integers are signed. ``cas`` has operands compare, value.
Floats (add, min, max, exch) by the type."""

BARRIER_OBJECT = "barrier object"
"""Operation of ATOMIC on a barrier object (:mod:`warpwatt.emulate.lift.barriers`): adds to its word; where
nothing is left to wait for then, its next phase begins."""
NEW_BARRIER_OBJECT = "new barrier object"
"""Operation of ATOMIC that writes such a word."""

PRODUCTS = frozenset({"mma", "scaled mma", "wgmma", "tensor load"})
"""Names of CALLs whose results are products of matrices."""

BULK_COPIES = ("load", "store", "reduce", "prefetch", "between blocks")
"""What BULK does with bytes side by side (``rank`` 0; the other address is that of global memory, or of
another block's shared memory) or with a box of a tensor (the other address is generic, of its map).

A load and a copy between blocks tell the barrier object how many bytes have come. The mask names the blocks
of the cluster that get what is loaded, each at the same offset; 0: the one that the shared address names.
A box has its bytes from its map: there 1 byte says that it is for a pair of blocks, of which the barrier
object's address names the one that is told."""


class Value(NamedTuple):
    """A value within a block; ``uniform`` where all active lanes have the same."""

    index: int  # type: ignore[assignment] # not the method of tuples, which nobody asks for
    type: Type
    uniform: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """What a LOAD, STORE or ATOMIC does.

    ``space`` is a :class:`~warpwatt.core.program.Space` value: ``global``, ``shared``, ``local``, ``generic``
    or ``const``. Addresses are I64 for global and generic, I32 or I64 offsets for the others. ``const`` takes
    ``bank``. ``count`` elements of type ``element`` lie side by side. ``operation``: of an atomic;
    ``returns`` is False for a reduction. ``bulk``, ``rank``: of a BULK operation, and how many coordinates it
    has; ``element`` is what a reduction adds. ``probe``: nobody needs what is moved, so that an engine may
    leave that out; the access is checked and counted.
    """

    space: str
    element: Type
    count: int = 1
    bank: int = 0
    operation: str = ""
    returns: bool = True
    probe: bool = False
    bulk: str = ""
    rank: int = 0

    @property
    def bytes(self) -> int:
        """Bytes per lane."""
        return self.count * self.element.bits // 8

    @property
    def barrier(self) -> bool:
        """Whether it works on a barrier object, which is memory that nothing else looks at."""
        return self.operation in (BARRIER_OBJECT, NEW_BARRIER_OBJECT)


class Operation(NamedTuple):
    """One operation: ``results`` from ``args``; ``mask`` (I1) or None; ``instruction`` it was lifted from."""

    op: Op
    results: tuple[Value, ...]
    args: tuple[Value, ...]
    data: object
    mask: Value | None
    instruction: int

    @property
    def memory(self) -> Memory:
        """What a LOAD, STORE or ATOMIC does."""
        assert isinstance(self.data, Memory)
        return self.data


class End(StrEnum):
    """How a block ends. ``condition`` is an I1 value of the block."""

    JUMP = "jump"
    """To ``targets[0]``."""
    BRANCH = "branch"
    """Lanes where ``condition`` holds go to ``targets[0]``, the others to ``targets[1]``."""
    INDIRECT = "indirect"
    """Each lane goes to the block whose ``address`` (see :class:`Block`) is its ``value`` (I32 or I64); lanes
    where ``condition`` (may be None) fails go to ``targets[0]``. Another address is an error."""
    EXIT = "exit"
    """Lanes where ``condition`` (None: all) holds are done; the others go to ``targets[0]``."""
    BARRIER = "barrier"
    """Active lanes wait at barrier ``value`` (uniform I32; its number) of the block until ``value2`` (uniform
    I32; None: all) threads have arrived, then go to ``targets[0]``. ``arrive`` barriers do not wait. The
    reduction of a ``bar.red`` over ``condition`` is read afterwards with CALL "barrier_result"."""
    CONVERGE = "converge"
    """Active lanes wait until all live lanes of ``value`` (I32 mask, its own in each lane) stand at this very
    end, then go to ``targets[0]`` together."""
    AWAIT = "await"
    """Each active lane waits until the phase of parity ``value2`` (I32) of the barrier object at shared
    address ``value`` is over, then goes to ``targets[0]``. Where nothing else can go on, it does as well."""
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class Terminator:
    """The end of a block; see :class:`End` for which fields it uses.

    ``leavers``, of CONVERGE: a uniform I32 register of lanes that are not waited for. It is read afresh each
    time the wait is looked at, since lanes may leave (SASS ``BREAK``) after others have begun to wait.
    ``among``, of INDIRECT: addresses that ``value`` may be, where that is known: behind a function's calls.
    """

    end: End
    targets: tuple[int, ...] = ()
    condition: Value | None = None
    value: Value | None = None
    value2: Value | None = None
    instruction: int = -1
    arrive: bool = False
    leavers: str | None = None
    among: frozenset[int] = frozenset()


@dataclass(slots=True)
class Block:
    """A basic block: straight-line operations, then the end.

    ``instructions`` is the range of program instructions it holds (an instruction that converges lanes first
    belongs to the block behind the convergence). ``address`` is what INDIRECT ends call it.
    """

    instructions: range
    operations: list[Operation] = field(default_factory=list)
    end: Terminator = field(default_factory=lambda: Terminator(End.EXIT))
    address: int | None = None


@dataclass(frozen=True, slots=True)
class RegisterKind:
    """A register that lives between blocks: type, and whether it holds one value per warp."""

    type: Type
    uniform: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Routine:
    """A kernel as micro-operations.

    Block 0 is the entry. Blocks are in scheduling order: when lanes of a warp are in different blocks, the
    lowest goes first, so a loop's blocks stand together and before those it leaves to.
    """

    program: Program
    blocks: tuple[Block, ...]
    registers: Mapping[str, RegisterKind]
    functions: tuple[str, ...] = ()
    """Names of runtime functions it calls."""
    uncovered: Mapping[int, str] = field(default_factory=dict)
    """Instructions without semantics -> opcode: their results are unknown (zero)."""

    def block_of(self, instruction: int) -> int:
        """Return the basic block that holds an instruction; -1 if none can be reached that does."""
        return next((k for k, block in enumerate(self.blocks) if instruction in block.instructions), -1)
