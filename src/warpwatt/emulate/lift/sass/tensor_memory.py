"""Semantics of tensor memory (PTX ISA 9.7.16, tcgen05): UTC..., LDTM, STTM.

Products and copies are started by one thread and done at once, which is one of the orders that the machine
allows; a commit (UTCBAR) therefore arrives at its barrier object at once. What they compute are runtime
functions (:mod:`warpwatt.emulate.tensor_memory`), which are left out unless a value steers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warpwatt.core.program import Address, Operand
from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.lift import barriers
from warpwatt.emulate.lift.sass.asynchronous import first_lane_only
from warpwatt.emulate.lift.sass.operands import is_predicate, is_zero, next_register, register_of, require
from warpwatt.emulate.lift.sass.table import lifts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.emulate.ir import Value
    from warpwatt.emulate.lift.sass.operands import Step

_COUNTS = " ".join(f"x{1 << n}" for n in range(8))
_SHAPES = {"16dp128bit": ("16x128b", 2), "16dp256bit": ("16x256b", 4)}
"""Modifier of a load: PTX's name of the shape, registers of its smallest form."""
_HALVES = {"16dp32bit_t0_t15": 0, "16dp32bit_t16_t31": 1}
"""Modifier of one of the two accesses of PTX's 16x32bx2: which half of the threads makes it."""
_KNOWN = " ".join((_COUNTS, *_SHAPES, *_HALVES))
_HALF_OF_LANES = 16
_COPIES = {"4x32dp128bit": (32, 16, 4), "128dp128bit": (128, 16, 1), "128dp256bit": (128, 32, 1)}
"""Modifier of a copy: rows, bytes of a row, how often they are repeated down the lanes."""
_DEPTHS = {"UTCHMMA": 16, "UTCQMMA": 32, "UTCIMMA": 32, "UTCOMMA": 64}
_MOST_RANKS = 16
_RANK_SHIFT = 24


# -- allocation ---------------------------------------------------------------------------------------------


@lifts("UTCATOMSWS.FIND_AND_SET", knows="ALIGN 2CTA")
def allocate(s: Step) -> None:
    """Find columns, in granules of 32; there always are some."""
    found, to, count = s.operands
    first = s.b.call("tensor allocate", (), (Type.I32, 1), s.value(count), uniform=True)[0]
    s.set(to, first)
    s.set(found, s.b.true())


@lifts("UTCATOMSWS.AND", "UVIRTCOUNT.DEALLOC", knows="2CTA SMPOOL")
def free(s: Step) -> None:
    """Give columns back: nothing."""


# -- registers ----------------------------------------------------------------------------------------------


@lifts("LDTM", knows=_KNOWN)
def load(s: Step) -> None:
    """Load registers from the lanes of the warp; by half of its threads, the others keep theirs."""
    to, place = s.operands
    shape, count = _form(s)
    values = s.b.call("tensor load", (shape, count), (Type.I32, count), _address(s, place))
    half = next((_HALVES[m] for m in s.modifiers if m in _HALVES), None)
    low = None if half is None else s.b.op(Op.ULT, s.b.lane(), s.b.i32(_HALF_OF_LANES))
    for number, value in enumerate(values):
        name = next_register(register_of(to).name, number)
        if low is None:
            s.set(name, value)
        else:
            s.set(name, s.b.select(low, *((value, s.get(name)) if half == 0 else (s.get(name), value))))


@lifts("STTM", knows=_KNOWN)
def store(s: Step) -> None:
    """Store registers to the lanes of the warp."""
    place, source = s.operands
    shape, count = _form(s)
    name = register_of(source).name
    words = [s.get(next_register(name, k)) for k in range(count)]
    s.b.call("tensor store", (shape, count), None, _address(s, place), *words)


def _form(s: Step) -> tuple[str, int]:
    """Return shape and registers."""
    times = next((int(m[1:]) for m in s.modifiers if re.fullmatch(r"x\d+", m)), 1)
    half = next((_HALVES[m] for m in s.modifiers if m in _HALVES), None)
    if half is not None:
        return f"16x32b half {half}", times
    shape, least = next((_SHAPES[m] for m in s.modifiers if m in _SHAPES), ("32x32b", 1))
    return shape, least * times


def _address(s: Step, operand: Operand) -> Value:
    """Return a place in tensor memory: lane in the upper half, column in the lower."""
    require(isinstance(operand, Address) and "tmem" in operand.modifiers, "tensor memory")
    assert isinstance(operand, Address)
    if operand.base is None:
        return s.b.i32(operand.offset)
    return s.b.add(s.get(register_of(operand.base).name), s.b.i32(operand.offset))


# -- products and copies ------------------------------------------------------------------------------------


@lifts(*_DEPTHS, knows="2CTA 4X")
def multiply(s: Step) -> None:
    """D = A × B, plus D where a predicate says so, by one thread for the block or a pair."""
    a, b, to, *rest = s.operands
    flags = [o for o in rest if is_predicate(o)]
    descriptor = _named(rest, "idesc")
    scales = [o for o in rest if isinstance(o, Address) and "tmem" in o.modifiers]
    require(len(flags) == 1 and descriptor is not None and len(rest) in (3, 4), "operands of a product")
    assert descriptor is not None
    in_tensor = isinstance(a, Address) and "tmem" in a.modifiers
    word = register_of(descriptor.base or descriptor).name
    matrices = [_address(s, a), s.b.i32(0)] if in_tensor else list(_words(s, a))
    factors = [
        *matrices,
        *_words(s, b),
        _address(s, to),
        s.get(word),
        s.b.zext(s.predicate(flags[0]), Type.I32),
    ]
    block = _block(s) if len(scales) == 2 else 0
    first_lane_only(s)
    places = list(_scales(s, scales[-1])) if block else []
    constants = (s.opcode, _DEPTHS[s.opcode], in_tensor, block, s.has("2CTA"))
    s.b.call("tensor multiply", constants, None, *factors, *places)


def _named(operands: list[Operand], name: str) -> Address | None:
    return next((o for o in operands if isinstance(o, Address) and name in o.modifiers), None)


def _words(s: Step, operand: Operand) -> Iterator[Value]:
    """Yield the two words of the descriptor of a matrix in shared memory."""
    require(isinstance(operand, Address) and "gdesc" in operand.modifiers, "descriptor")
    assert isinstance(operand, Address)
    name = register_of(operand.base or operand).name
    yield s.get(name)
    yield s.get(next_register(name))


def _block(s: Step) -> int:
    """Return how many elements share a scale: 32, or 16 of nvfp4."""
    return 16 if s.has("4X") else 32


def _scales(s: Step, operand: Address) -> Iterator[Value]:
    """Yield where the scales of A and of B are: two registers."""
    name = register_of(operand.base or operand).name
    yield s.get(name)
    yield s.get(next_register(name))


@lifts("UTCCP.T.S", knows=f"2CTA {' '.join(_COPIES)}")
def copy(s: Step) -> None:
    """Copy from shared memory."""
    place, source = s.operands
    form = next((_COPIES[m] for m in s.modifiers if m in _COPIES), _COPIES["128dp256bit"])
    address, words = _address(s, place), tuple(_words(s, source))
    first_lane_only(s)
    s.b.call("tensor copy", (*form, s.has("2CTA")), None, address, *words)


@lifts("UTCBAR", knows="2CTA MULTICAST FLUSH")
def commit(s: Step) -> None:
    """Arrive at a barrier object when what the thread started is done, which it is; a mask names blocks."""
    place, none, *mask = s.operands
    require(is_zero(none) and len(mask) == s.has("MULTICAST"))
    assert isinstance(place, Address)
    at = s.get(register_of(place.base or place).name)
    at = s.b.add(at, s.b.i32(place.offset))
    blocks = s.b.and_(s.value(mask[0]), s.b.i32(0xFFFF)) if mask else None
    first_lane_only(s)
    if blocks is None:
        barriers.arrive(s.b, "shared", at, s.b.i32(1))
        return
    guard, offset = s.b.guard, s.b.and_(at, s.b.i32((1 << _RANK_SHIFT) - 1))
    for rank in range(_MOST_RANKS):
        there = s.b.trunc(s.b.lshr(blocks, rank), Type.I1)
        s.b.guard = there if guard is None else s.b.and_(guard, there)
        barriers.arrive(s.b, "shared", s.b.or_(offset, s.b.i32(rank << _RANK_SHIFT)), s.b.i32(1))
    s.b.guard = guard


# -- work of other blocks -----------------------------------------------------------------------------------


_ANSWER_WORDS = 4


@lifts("UGETNEXTWORKID", knows="BROADCAST SELFCAST")
def next_work(s: Step) -> None:
    """Ask for the work of a block that has not begun (clusterlaunchcontrol): there is none, all have begun.

    Each block of the cluster gets the answer, zeros, and its barrier object the bytes.
    """
    answer, barrier = (s.get(register_of(o.base or o).name) for o in map(_plain, s.operands))
    first_lane_only(s)
    guard, offset = s.b.guard, s.b.i32((1 << _RANK_SHIFT) - 1)
    ranks = range(_MOST_RANKS) if s.has("BROADCAST") else (None,)
    for rank in ranks:
        if rank is not None:
            there = s.b.op(Op.ULT, s.b.i32(rank), s.b.special("cluster_nctarank"))
            s.b.guard = there if guard is None else s.b.and_(guard, there)
        to, told = (
            a if rank is None else s.b.or_(s.b.and_(a, offset), s.b.i32(rank << _RANK_SHIFT))
            for a in (answer, barrier)
        )
        barriers.complete(s.b, "shared", told, s.b.i32(4 * _ANSWER_WORDS))
        s.b.store("shared", to, *[s.b.i32(0)] * _ANSWER_WORDS)
    s.b.guard = guard


def _plain(operand: Operand) -> Address:
    require(isinstance(operand, Address) and operand.offset == 0)
    assert isinstance(operand, Address)
    return operand
