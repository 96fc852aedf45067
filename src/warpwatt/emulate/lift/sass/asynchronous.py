"""Semantics of the asynchronous units: barrier objects (SYNCS), bulk and tensor copies (UBLKCP, UTMALDG).

A copy's operands lie in uniform registers side by side: the address in shared memory, the barrier object's
where it is told, then the coordinates, innermost first. It is made once for the warp, whatever lanes are
active. What is read where follows from compiled probes of each PTX instruction (PTX ISA 9.7.9, 9.7.13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Operand, Register
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift import barriers
from warpwatt.emulate.lift.sass.atomics import arrive_before_hopper
from warpwatt.emulate.lift.sass.memory import address
from warpwatt.emulate.lift.sass.operands import is_predicate, is_zero, next_register, register_of, require
from warpwatt.emulate.lift.sass.reserved import in_reserved
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_COUNT_BITS = 20
_STATE_COUNT_AT = 11
"""Of the upper word of a state: where 2^20 less the pending arrivals stands; bit 31 is the parity."""
_RANKS = "1D 2D 3D 4D 5D"
_ELEMENTS = {
    "U32": Type.I32, "S32": Type.I32, "U64": Type.I64, "S64": Type.I64, "F32": Type.F32, "F16": Type.F16,
    "F64": Type.F64,
}  # fmt: skip
_REDUCTIONS = "ADD MIN MAX INC DEC AND OR XOR"


# -- barrier objects --------------------------------------------------------------------------------------


@lifts("SYNCS.EXCH.64")
def initialise(s: Step) -> None:
    """Make a barrier object: the low word is twice 2^20 less the count of arrivals."""
    state, place, value = s.operands
    require(is_zero(state))
    low = s.b.and_(s.b.lshr(s.value(value), 1), s.b.i32((1 << _COUNT_BITS) - 1))
    count = s.b.sub(s.b.i32(1 << _COUNT_BITS), low)
    barriers.initialise(s.b, "shared", address(s, place, "shared"), count)


@lifts("SYNCS.ARRIVE.TRANS64", knows="A1T0 ART0 A0TR A0T1 RED OPTOUT")
def arrive(s: Step) -> None:
    """Arrive, expect bytes, or both: the modifier says "arrivals, bytes", each 0, 1 or R for the operand."""
    state, place, value = s.operands
    if in_reserved(s, place):
        return
    at, how = address(s, place, "shared"), s.one_of(("A1T0", "ART0", "A0TR", "A0T1"), "A1TR")
    if how in ("A0TR", "A0T1"):
        barriers.expect(s.b, "shared", at, s.b.i32(1) if how == "A0T1" else s.value(value))
        return
    count = s.value(value) if how == "ART0" else s.b.i32(1)
    bytes_ = s.value(value) if how == "A1TR" else None
    old = barriers.arrive(s.b, "shared", at, count, bytes_=bytes_, drop=s.has("OPTOUT"))
    if not is_zero(state):
        s.set(state, s.b.const(Type.I32, 0))
        s.set(next_register(register_of(state).name), _state(s, old))


def _state(s: Step, word: Value) -> Value:
    """Return the upper word of a barrier object's state."""
    parity = s.b.trunc(s.b.lshr(word, barriers.PHASE_AT), Type.I32)
    pending = s.b.sub(s.b.i32(1 << _COUNT_BITS), barriers.pending(s.b, word))
    return s.b.or_(s.b.shl(parity, 31), s.b.shl(pending, _STATE_COUNT_AT))


@lifts("SYNCS.PHASECHK.TRANS64", knows="TRYWAIT")
def await_phase(s: Step) -> None:
    """Tell whether the phase of the parity in bit 31 is over; here it always waits until it is."""
    predicate, place, state = s.operands
    require(is_predicate(predicate))
    if in_reserved(s, place):
        s.set(predicate, s.b.true())
        return
    s.b.await_phase(address(s, place, "shared"), s.b.lshr(s.value(state), 31))
    over = barriers.finished_parity(s.b, "shared", address(s, place, "shared"), s.b.lshr(s.value(state), 31))
    s.set(predicate, over)


@lifts("SYNCS.CCTL.IV")
def invalidate(s: Step) -> None:
    """Give up a barrier object: nothing."""


@lifts("ARRIVES.LDGSTSBAR.64", knows="ARVCNT TRANSCNT")
def arrive_on_copies(s: Step) -> None:
    """Arrive when the asynchronous copies so far are done, which they are (``cp.async.mbarrier.arrive``).

    ``.TRANSCNT`` takes back the arrival that an instruction before it has added; before Hopper there is
    neither this nor ``.ARVCNT``, and barrier objects have another form.
    """
    if not s.has("TRANSCNT") and not s.has("ARVCNT"):
        arrive_before_hopper(s, s.operands[0])
        return
    at = address(s, s.operands[0], "shared")
    if s.has("TRANSCNT"):
        barriers.complete(s.b, "shared", at, s.b.i32(1))
    else:
        barriers.arrive(s.b, "shared", at, s.b.i32(1))


@lifts("STAS", knows="64 128")
def store_and_tell(s: Step) -> None:
    """Store in another block of the cluster and tell its barrier object (``st.async``)."""
    place, value = s.operands
    require(isinstance(place, Address) and isinstance(place.base, Register))
    assert isinstance(place, Address)
    base = register_of(place.base or place)
    words = int(s.one_of(("64", "128"), "32")) // 32
    name, value = base.name, register_of(value)
    to = s.b.add(s.get(name), s.b.i32(place.offset))
    s.b.store("shared", to, *(s.get(next_register(value.name, k)) for k in range(words)))
    told = next_register(name)
    if not in_reserved(s, Register(told)):
        barriers.complete(s.b, "shared", s.get(told), s.b.i32(4 * words))


# -- copies by the tensor memory accelerator ----------------------------------------------------------------


def first_lane_only(s: Step) -> None:
    """Let the first active lane stand for the warp, if the guard holds."""
    first = s.b.compare("eq", s.b.lane(), s.b.op(Op.CLZ, s.b.op(Op.BREV, s.b.active())))
    s.b.guard = first if s.b.guard is None else s.b.and_(s.b.guard, first)


def _uniform(operand: Operand) -> str:
    """Return the first of the uniform registers that an operand ``[UR4]`` names."""
    require(isinstance(operand, Address) and operand.offset == 0 and operand.index is None)
    assert isinstance(operand, Address)
    return register_of(operand.base or operand).name


def _wide(s: Step, operand: Operand) -> Value:
    name = _uniform(operand)
    return s.b.pair(s.get(name), s.get(next_register(name)))


def _blocks(s: Step, operand: Operand | None) -> Value | None:
    """Return the mask of blocks that a multicast goes to: the upper half of a register."""
    if not s.has("MULTICAST"):
        return None
    require(operand is not None)
    assert operand is not None
    return s.b.lshr(s.value(operand), 16)


def _rest(s: Step) -> list[Operand]:
    """Return operands behind the two addresses, hints for caches left out."""
    return [o for o in s.operands[2:] if not (isinstance(o, Address) and "desc" in str(o.modifiers))]


def _rank(s: Step) -> int:
    return int(s.one_of(_RANKS.split())[0])


def _coordinates(s: Step, name: str, first: int) -> tuple[Value, ...]:
    return tuple(s.get(next_register(name, first + axis)) for axis in range(_rank(s)))


@lifts("UTMALDG", knows=f"{_RANKS} MULTICAST 2CTA")
def load_tensor(s: Step) -> None:
    """Copy a box of a tensor to shared memory and tell a barrier object; of a pair, that of either block."""
    name, rest = _uniform(s.operands[0]), _rest(s)
    require(len(rest) == s.has("MULTICAST"))
    map_, blocks = _wide(s, s.operands[1]), _blocks(s, rest[0] if rest else None)
    coordinates = _coordinates(s, name, 2)
    first_lane_only(s)
    barrier = s.get(next_register(name))
    pair = s.b.i32(1) if s.has("2CTA") else None
    s.b.bulk("load", s.get(name), map_, size=pair, barrier=barrier, blocks=blocks, coordinates=coordinates)


@lifts("UTMASTG", knows=_RANKS)
def store_tensor(s: Step) -> None:
    """Copy a box of a tensor from shared memory."""
    _tensor_from_shared(s, "store", Type.I8)


@lifts("UTMAREDG", knows=f"{_RANKS} {_REDUCTIONS}")
def reduce_tensor(s: Step) -> None:
    """Combine a box of a tensor with shared memory. What comes out is that of additions of 32-bit floats."""
    _tensor_from_shared(s, "reduce", Type.F32)


def _tensor_from_shared(s: Step, kind: str, element: Type) -> None:
    require(not _rest(s))
    name, map_ = _uniform(s.operands[0]), _wide(s, s.operands[1])
    coordinates = _coordinates(s, name, 1)
    first_lane_only(s)
    s.b.bulk(kind, s.get(name), map_, coordinates=coordinates, element=element)


@lifts("UTMAPF.L2", knows=_RANKS)
def prefetch_tensor(s: Step) -> None:
    """Bring a box of a tensor to L2."""
    require(not _rest(s))
    name, map_ = _uniform(s.operands[0]), _wide(s, s.operands[1])
    coordinates = _coordinates(s, name, 0)
    first_lane_only(s)
    s.b.bulk("prefetch", s.b.i32(0), map_, coordinates=coordinates)


def _size(s: Step, operand: Operand) -> Value:
    """Return the bytes of a bulk copy: 16 times the lower half of a register."""
    return s.b.shl(s.b.and_(s.value(operand), s.b.i32(0xFFFF)), 4)


@lifts("UBLKCP", knows="S G MULTICAST")
def copy_bytes(s: Step) -> None:
    """Copy bytes; the modifiers say where to and where from."""
    match tuple(m for m in s.modifiers if m != "MULTICAST"):
        case ("S", "G"):
            _load_bytes(s)
        case ("G", "S"):
            _bytes_from_shared(s, "store", Type.I8)
        case ("S", "S"):
            _between_blocks(s)
        case _:
            require(False)


def _load_bytes(s: Step) -> None:
    name, (size,) = _uniform(s.operands[0]), _rest(s)
    source, blocks, bytes_ = _wide(s, s.operands[1]), _blocks(s, size), _size(s, size)
    first_lane_only(s)
    s.b.bulk("load", s.get(name), source, size=bytes_, barrier=s.get(next_register(name)), blocks=blocks)


def _between_blocks(s: Step) -> None:
    name, source, (size,) = _uniform(s.operands[0]), s.get(_uniform(s.operands[1])), _rest(s)
    bytes_ = _size(s, size)
    first_lane_only(s)
    s.b.bulk("between blocks", s.get(name), source, size=bytes_, barrier=s.get(next_register(name)))


def _bytes_from_shared(s: Step, kind: str, element: Type) -> None:
    to, source, (size,) = _wide(s, s.operands[0]), s.get(_uniform(s.operands[1])), _rest(s)
    bytes_ = _size(s, size)
    first_lane_only(s)
    s.b.bulk(kind, source, to, size=bytes_, element=element)


@lifts("UBLKRED.G.S.ADD", knows="U32 S32 U64 S64 F32 F16 F64 RN")
def reduce_bytes(s: Step) -> None:
    """Add shared memory to global memory."""
    element = _ELEMENTS[s.one_of(_ELEMENTS)]
    _bytes_from_shared(s, "reduce", element)


@lifts("UBLKPF.L2")
def prefetch_bytes(s: Step) -> None:
    """Bring bytes to L2."""
    source, bytes_ = _wide(s, s.operands[0]), _size(s, s.operands[1])
    first_lane_only(s)
    s.b.bulk("prefetch", s.b.i32(0), source, size=bytes_)


@lifts("UTMACMDFLUSH", "UTMACCTL", "WARPGROUP", knows="*")
def order(s: Step) -> None:
    """Order or hint: what it waits for has been done already."""
