"""A routine as steps that C++ functions execute one after the other (``native/emulate/steps.h``).

Most launches run a few hundred instructions of each kind: to make machine code of them takes longer than to
run them so. Values are 32 lanes in a frame, which a basic block's values share once nothing reads them any
more. Operations that have no step (half precision, textures) leave a routine to LLVM.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.ir import End, Op, Type
from warpwatt.emulate.native import textures
from warpwatt.emulate.native.floats import rounding_mode
from warpwatt.emulate.native.records import CODES, SPECIAL_REGISTERS, STEP, STEP_BLOCK, offset_of
from warpwatt.emulate.native.tables import (
    BULK_ARGUMENTS,
    RoutineTables,
    called,
    is_operand,
    last_sets,
    used_values,
)
from warpwatt.emulate.native.values import literal_bits
from warpwatt.emulate.run import CLOCK_TICK
from warpwatt.native.records import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Block, Operation, Terminator, Value

VALUE_BYTES = 256
"""Of a value in the frame: 32 lanes of 64 bits."""
PATIENCE = 20_000
"""How often each step of a routine may run, on average, before machine code is worth its while: LLVM takes
about 0.1 ms for a step, which then takes some nanoseconds less."""
_NONE = -1
"""For the place of a value: there is none."""
_SIGNED_NEUTRAL = {Op.SMIN: 0, Op.SMAX: 1}
_NEUTRAL = {Op.ADD: 0, Op.OR: 0, Op.XOR: 0, Op.UMAX: 0, Op.AND: -1, Op.UMIN: -1}
_Row = tuple[int, int, int, int, int, int]


class NoStepError(Exception):
    """There is no step for an operation."""


@dataclass(slots=True, eq=False)
class RoutineSteps(RoutineTables):
    """The steps of a routine and the tables that go with them; raises :class:`NoStepError` where one lacks.

    Attributes
    ----------
    blocks
        The records of basic blocks, which point to those of steps.
    constants
        What a frame begins with.
    frame_bytes
        Bytes of a frame.
    patience
        Steps left to be executed before the routine is compiled: one number, which every run counts down.
    """

    blocks: NDArray[np.void] = field(init=False)
    constants: NDArray[np.uint8] = field(init=False)
    frame_bytes: int = 0
    patience: NDArray[np.int64] = field(init=False)
    _steps: NDArray[np.void] = field(init=False)

    def __post_init__(self) -> None:
        RoutineTables.__post_init__(self)
        pool = _Constants()
        written = [_BlockWriter(self, pool, block) for block in self.routine.blocks]
        rows = [row for writer in written for row in writer.placed()]
        self._steps = np.array(rows, STEP)
        known = len(pool.values)
        for name in ("result", "a", "b", "c"):
            self._steps[name] = _offsets(self._steps[name], known)
        starts = np.cumsum([0, *(len(writer.rows) for writer in written)])
        ends = [writer.ending(starts[k]) for k, writer in enumerate(written)]
        self.blocks = np.array(ends, STEP_BLOCK)
        for name in ("condition", "value"):
            self.blocks[name] = _offsets(self.blocks[name], known)
        self.blocks["steps"] += np.uint64(self._steps.ctypes.data)
        self.constants = pool.lanes()
        self.frame_bytes = VALUE_BYTES * (known + max(writer.places for writer in written))
        self.patience = np.array([PATIENCE * len(rows)], np.int64)


def _offsets(places: NDArray[np.int32], constants: int) -> NDArray[np.int32]:
    """Return where values lie, in bytes: constants, which have numbers below -1, in front."""
    offsets = np.where(places < _NONE, -2 - places, places + constants) * VALUE_BYTES
    return np.where(places == _NONE, _NONE, offsets).astype(np.int32)


class _Constants:
    """The constants of a routine, each once: 32 lanes of bits, or a mask of lanes."""

    def __init__(self) -> None:
        self.values: dict[tuple[int, int] | str, int] = {}

    def place(self, bits: int, value: int) -> int:
        """Return the number that stands for a constant's place."""
        return self.values.setdefault((bits, value), -2 - len(self.values))

    def lane_numbers(self) -> int:
        """Return that of the lanes' numbers."""
        return self.values.setdefault("lanes", -2 - len(self.values))

    def lanes(self) -> NDArray[np.uint8]:
        """Return all of them as they lie in a frame."""
        room = np.zeros((len(self.values), VALUE_BYTES), np.uint8)
        for row, key in zip(room, self.values, strict=True):
            if isinstance(key, str):
                row[:128] = np.arange(32, dtype=np.uint32).view(np.uint8)
            elif key[0] == 1:
                row[:4] = 0xFF * (key[1] & 1)
            else:
                row[: 4 * key[0]] = np.frombuffer(key[1].to_bytes(key[0] // 8, "little") * 32, np.uint8)
        return room.reshape(-1)


class _BlockWriter:
    """Writes the steps of one block; values have numbers until they are placed."""

    def __init__(self, routine: RoutineSteps, pool: _Constants, block: Block) -> None:
        self.routine, self.pool, self.block = routine, pool, block
        self.length = max(1, len(block.instructions))
        """What executing it takes off the budget."""
        self.rows: list[_Row] = []
        self.places = self.values = 0
        self.may_fail = False
        self._known: dict[int, int] = {}
        self._scalars: set[int] = set()
        """Values that are the same in all lanes."""
        self._constants: dict[int, int] = {}
        self._current: dict[str, Value] = {}
        self._read: dict[tuple[int, int, int], int] = {}
        self._last = last_sets(block)
        used = used_values(block)
        for place, operation in enumerate(block.operations):
            if operation.op is Op.SET:
                self._set(operation, commit=place in self._last)
            elif operation.op is not Op.GET or operation.results[0].index in used:
                _WRITES[operation.op](self, operation)
        end = block.end
        self._condition = _NONE if end.condition is None else self._at(end.condition)
        self._value = self._end_values(end)

    # -- rows -------------------------------------------------------------------------------------------

    def _step(self, name: str, *args: int, result: int = _NONE, number: int = 0) -> None:
        """Add a step; ``args`` are the numbers of up to three values."""
        execute = _functions().get(name)
        if execute is None:
            raise NoStepError(name)
        a, b, c = (*args, _NONE, _NONE, _NONE)[:3]
        self.rows.append((execute, result, a, b, c, number))

    def _make(self, name: str, *args: int, number: int = 0) -> int:
        """Add a step that makes a value; return its number."""
        made = self.values
        self.values += 1
        self._step(name, *args, result=made, number=number)
        return made

    def _bind(self, value: Value, at: int, *, scalar: bool) -> None:
        self._known[value.index] = at
        if scalar:
            self._scalars.add(value.index)

    def _let(self, operation: Operation, name: str, number: int = 0) -> None:
        """Make the result of an operation on lanes from its arguments."""
        made = self._make(name, *(self._known[value.index] for value in operation.args), number=number)
        self._bind(operation.results[0], made, scalar=self._are_scalar(*operation.args))

    def _at(self, value: Value) -> int:
        return self._known[value.index]

    def _mask(self, mask: Value | None) -> int:
        return _NONE if mask is None else self._at(mask)

    def _are_scalar(self, *values: Value) -> bool:
        return all(value.index in self._scalars for value in values)

    def placed(self) -> list[_Row]:
        """Return the rows with places of the frame in place of the numbers of values."""
        last: dict[int, int] = {}
        for row, (_, result, a, b, c, _number) in enumerate(self.rows):
            last[result] = last[a] = last[b] = last[c] = row
        last[self._condition] = last[self._value] = len(self.rows)
        ending = [list[int]() for _ in range(len(self.rows) + 1)]
        for value, row in last.items():
            if value >= 0:
                ending[row].append(value)
        place, free, found = dict[int, int](), list[int](), list[_Row]()
        for row, (execute, result, a, b, c, number) in enumerate(self.rows):
            if result >= 0:
                if not free:
                    free.append(self.places)
                    self.places += 1
                place[result] = free.pop()
            args = (place.get(a, a), place.get(b, b), place.get(c, c))
            found.append((execute, place.get(result, result), *args, number))
            free += [place[value] for value in ending[row]]
        self._condition, self._value = (place.get(v, v) for v in (self._condition, self._value))
        return found

    def ending(self, start: int) -> tuple[object, ...]:
        """Return the block's record; ``start`` is the number of its first step in all of them."""
        end, block = self.block.end, self.block
        first, second, *_ = (*end.targets, _NONE, _NONE)
        fields = {
            "steps": start * STEP.itemsize, "count": len(self.rows), "length": self.length,
            "end": CODES["end"][end.end], "targets": (first, second), "condition": self._condition,
            "value": self._value, "instruction": end.instruction, "arrive": end.arrive,
            "expected": end.value2 is not None, "may_fail": self.may_fail,
            "leaves": self.routine.sets_leavers(block),
        }  # fmt: skip
        return tuple(fields[name] for name in STEP_BLOCK.names or ())

    def _end_values(self, end: Terminator) -> int:
        """Hand the values of an end to the machine, but those of a CONVERGE; return their number."""
        if end.value is None:
            return _NONE
        if end.end is End.CONVERGE:
            return self._at(end.value)
        self._address(end.value)
        if end.value2 is not None:
            self._argument(end.value2, 0)
        return _NONE

    # -- operations on lanes ----------------------------------------------------------------------------

    def constant(self, operation: Operation) -> None:
        """CONST."""
        (result,), data = operation.results, operation.data
        assert isinstance(data, (int, float))
        if isinstance(data, int):
            self._constants[result.index] = data
        self._bind(result, self.pool.place(result.type.bits, literal_bits(result.type, data)), scalar=True)

    def plain(self, operation: Operation) -> None:
        """Write what is done by the operation's name and the type of its arguments."""
        mode = 0 if operation.data is None else rounding_mode(operation.data)
        self._let(operation, f"{operation.op} {operation.args[0].type}", mode)

    def resize(self, operation: Operation) -> None:
        """ZEXT SEXT TRUNC."""
        (value,), (result,) = operation.args, operation.results
        if value.type is Type.I1:
            self._let(operation, f"spread {result.type.bits}", 1 if operation.op is Op.ZEXT else -1)
        elif result.type is Type.I1:
            self._let(operation, f"lowest bits {value.type.bits}")
        else:
            sign = "signed " if operation.op is Op.SEXT else ""
            self._let(operation, f"resize {sign}{value.type} {result.type}")

    def cast_bits(self, operation: Operation) -> None:
        """BITCAST: the same bytes."""
        (value,), (result,) = operation.args, operation.results
        self._bind(result, self._at(value), scalar=self._are_scalar(value))

    def select(self, operation: Operation) -> None:
        """SELECT."""
        self._let(operation, f"select {operation.results[0].type.bits}")

    def convert(self, operation: Operation) -> None:
        """FPTOSI FPTOUI FPEXT FPTRUNC."""
        (value,), (result,) = operation.args, operation.results
        mode = 0 if operation.data is None else rounding_mode(operation.data)
        self._let(operation, f"{operation.op} {value.type} {result.type}", mode)

    def from_integer(self, operation: Operation) -> None:
        """SITOFP UITOFP: in 64 bits with a sign, which every rounding mode converts right."""
        (value,), (result,) = operation.args, operation.results
        mode = 0 if operation.data is None else rounding_mode(operation.data)
        at, signed = self._at(value), operation.op is Op.SITOFP
        if value.type is Type.I1:
            at = self._make("spread 64", at, number=-1 if signed else 1)
        elif value.type is not Type.I64:
            at = self._make(f"resize {'signed ' * signed}{value.type} i64", at)
        elif not signed and mode:
            raise NoStepError(operation.op)
        how = "uitofp" if value.type is Type.I64 and not signed else "sitofp"
        made = self._make(f"{how} i64 {result.type}", at, number=mode)
        self._bind(result, made, scalar=self._are_scalar(value))

    def function(self, operation: Operation) -> None:
        """MATH."""
        self._let(operation, f"{operation.data} {operation.results[0].type}")

    # -- lanes and registers ----------------------------------------------------------------------------

    def lane(self, operation: Operation) -> None:
        """LANE."""
        self._bind(operation.results[0], self.pool.lane_numbers(), scalar=False)

    def special(self, operation: Operation) -> None:
        """Write SPECIAL."""
        (result,), name = operation.results, str(operation.data)
        if name.startswith("tid."):
            self._bind(result, self._make("tid", number="xyz".index(name[-1])), scalar=False)
        elif name in ("clock", "clock64", "globaltimer"):
            of_all = name == "globaltimer"
            made = self._make("clock of all" if of_all else "clock", number=self.length)
            if not of_all:
                made = self._make("mul i64", made, self.pool.place(64, CLOCK_TICK))
            if result.type is Type.I32:
                made = self._make("resize i64 i32", made)
            self._bind(result, made, scalar=True)
        else:
            made = self._make("special", number=offset_of(SPECIAL_REGISTERS, name))
            self._bind(result, made, scalar=True)

    def active(self, operation: Operation) -> None:
        """ACTIVE."""
        self._bind(operation.results[0], self._make("active"), scalar=True)

    def ballot(self, operation: Operation) -> None:
        """BALLOT."""
        self._bind(operation.results[0], self._make("ballot", self._at(operation.args[0])), scalar=True)

    def shuffle(self, operation: Operation) -> None:
        """SHUFFLE."""
        value, lanes = operation.args
        made = self._make(f"shuffle {value.type.bits}", self._at(value), self._at(lanes))
        scalar = self._are_scalar(value) or self._are_scalar(lanes)
        self._bind(operation.results[0], made, scalar=scalar)

    def match(self, operation: Operation) -> None:
        """MATCH."""
        self._address(operation.args[0])
        self._bind(operation.results[0], self._make("match"), scalar=self._are_scalar(*operation.args))

    def reduce(self, operation: Operation) -> None:
        """REDUCE."""
        value = operation.args[0]
        mask = operation.mask if operation.mask is not None else (operation.args[1:] or (None,))[0]
        how = Op(str(operation.data))
        if how in _SIGNED_NEUTRAL:
            neutral = (1 << (value.type.bits - 1)) - 1
            neutral = -1 - neutral if how is Op.SMAX else neutral
        else:
            neutral = _NEUTRAL.get(how, 0)
        made = self._make(
            f"reduce {how} {value.type}", self._at(value), _NONE, self._mask(mask), number=neutral
        )
        self._bind(operation.results[0], made, scalar=True)

    def count(self, operation: Operation) -> None:
        """COUNT."""
        self._step("count", self._at(operation.args[0]), number=len(self.routine.guarded))
        assert isinstance(operation.data, int)
        self.routine.guarded.append(operation.data)

    def get(self, operation: Operation) -> None:
        """GET."""
        (result,), name = operation.results, str(operation.data)
        if name in self._current:
            known = self._current[name]
            self._bind(result, self._at(known), scalar=self._are_scalar(known))
            return
        kind, offset = self.routine.routine.registers[name], self.routine.offsets[name]
        how = "get uniform" if kind.uniform else "get"
        self._bind(result, self._make(f"{how} {kind.type.bits}", number=offset), scalar=kind.uniform)

    def _set(self, operation: Operation, *, commit: bool) -> None:
        """SET: the last one of a block writes the register, earlier ones are only remembered."""
        value, name = operation.args[0], str(operation.data)
        mask = operation.mask or (operation.args[1] if len(operation.args) > 1 else None)
        if mask is None:
            self._current[name] = value
            if not commit:
                return
        else:
            self._current.pop(name, None)
        kind, offset = self.routine.routine.registers[name], self.routine.offsets[name]
        how = "set uniform" if kind.uniform else "set"
        self._step(f"{how} {kind.type.bits}", self._at(value), _NONE, self._mask(mask), number=offset)

    # -- memory and calls -------------------------------------------------------------------------------

    def _address(self, value: Value) -> None:
        self._step(f"address {value.type.bits}", self._at(value))

    def _argument(self, value: Value, row: int) -> None:
        self._step(f"argument {value.type.bits}", self._at(value), number=row)

    def _row(self, operation: Operation) -> int:
        """Return the row of an access in the table of operations."""
        self.may_fail = True
        self.routine.operations.append(operation)
        return len(self.routine.operations) - 1

    def load(self, operation: Operation) -> None:
        """LOAD."""
        if is_operand(operation, self._constants):
            self._operand(operation)
            return
        memory, (address, *_), mask = operation.memory, operation.args, self._mask(operation.mask)
        row = self._row(operation)
        own = memory.space in ("local", "generic")  # at one address, each lane has its own local memory
        bits = memory.element.bits
        if self._are_scalar(address) and not own:
            self._step(f"uniform load {address.type.bits}", self._at(address), _NONE, mask, number=row)
            for number, result in enumerate([] if memory.probe else operation.results):
                made = self._make(f"loaded for all {bits}", number=bits // 8 * number)
                self._bind_masked(result, made, operation.mask)
            return
        self._address(address)
        self._step("load", _NONE, _NONE, mask, number=row)
        for number, result in enumerate([] if memory.probe else operation.results):
            self._bind(result, self._make(f"loaded {bits}", number=4 * bits * number), scalar=False)

    def _operand(self, operation: Operation) -> None:
        """LOAD from a constant bank at a known address."""
        memory, address = operation.memory, self._constants[operation.args[0].index]
        bits = memory.element.bits
        for number, result in enumerate(operation.results):
            key = (bits, memory.bank, address + bits // 8 * number)
            if key not in self._read:
                self._read[key] = self._make(f"constant {bits}", number=memory.bank << 32 | key[2])
            self._bind_masked(result, self._read[key], operation.mask)

    def _bind_masked(self, result: Value, at: int, mask: Value | None) -> None:
        """Bind what was read for all lanes; 0 where a mask does not hold."""
        scalar = True
        if mask is not None:
            bits, scalar = result.type.bits, self._are_scalar(mask)
            at = self._make(f"select {bits}", self._at(mask), at, self.pool.place(bits, 0))
        self._bind(result, at, scalar=scalar)

    def store(self, operation: Operation) -> None:
        """STORE."""
        memory, (address, *values) = operation.memory, operation.args
        row = self._row(operation)
        for number, value in enumerate([] if memory.probe else values[: memory.count]):
            bits = memory.element.bits
            self._step(f"store element {value.type.bits}", self._at(value), number=4 * bits * number)
        self._address(address)
        self._step("store", _NONE, _NONE, self._mask(operation.mask), number=row)

    def atomic(self, operation: Operation) -> None:
        """ATOMIC."""
        memory, (address, *operands) = operation.memory, operation.args
        row = self._row(operation)
        for place, value in enumerate(operands[: 2 if memory.operation == "cas" else 1]):
            self._argument(value, place)
        self._address(address)
        self._step("atomic", _NONE, _NONE, self._mask(operation.mask), number=row)
        for result in operation.results:
            self._bind(result, self._make(f"old value {result.type.bits}"), scalar=False)

    def bulk(self, operation: Operation) -> None:
        """BULK."""
        row = self._row(operation)
        for place in range(BULK_ARGUMENTS):
            if place < len(operation.args):
                self._argument(operation.args[place], place)
            else:
                self._step("argument 64", self.pool.place(64, 0), number=place)
        self._step("bulk", _NONE, _NONE, self._mask(operation.mask), number=row)

    def call(self, operation: Operation) -> None:
        """CALL."""
        name, constants = called(operation)
        if name in textures.NAMES:
            raise NoStepError(name)
        self.may_fail = True
        for place, value in enumerate(operation.args):
            self._argument(value, place)
        if name == "barrier_result":
            how = CODES["barrier_result"][str(constants[0]) if constants else "popc"]
            self._step("barrier results", number=how)
        else:
            number = len(self.routine.calls)
            self._step("call", _NONE, _NONE, self._mask(operation.mask), number=number)
        self.routine.calls.append(operation)
        for place, result in enumerate(operation.results):
            self._bind(result, self._make(f"result {result.type.bits}", number=place), scalar=False)


@cache
def _functions() -> Mapping[str, int]:
    """Return the addresses of the functions of steps by name."""
    return codes("emulator_steps")["step"]


_ARITHMETIC = (
    Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.LSHR, Op.ASHR, Op.UDIV, Op.SDIV, Op.UREM,
    Op.SREM, Op.UMIN, Op.UMAX, Op.SMIN, Op.SMAX, Op.POPC, Op.CLZ, Op.BREV, Op.EQ, Op.NE, Op.SLT, Op.SLE,
    Op.ULT, Op.ULE, Op.FADD, Op.FSUB, Op.FMUL, Op.FDIV, Op.FMA, Op.FSQRT, Op.FNEG, Op.FABS, Op.FMIN, Op.FMAX,
    Op.FFLOOR, Op.FCEIL, Op.FTRUNC, Op.FRINT, Op.FEQ, Op.FLT, Op.FLE, Op.FUNO,
)  # fmt: skip
_WRITES: Mapping[Op, Callable[[_BlockWriter, Operation], None]] = {
    Op.CONST: _BlockWriter.constant,
    **dict.fromkeys(_ARITHMETIC, _BlockWriter.plain),
    **dict.fromkeys((Op.ZEXT, Op.SEXT, Op.TRUNC), _BlockWriter.resize),
    Op.BITCAST: _BlockWriter.cast_bits,
    Op.SELECT: _BlockWriter.select,
    **dict.fromkeys((Op.FPTOSI, Op.FPTOUI, Op.FPEXT, Op.FPTRUNC), _BlockWriter.convert),
    **dict.fromkeys((Op.SITOFP, Op.UITOFP), _BlockWriter.from_integer),
    Op.MATH: _BlockWriter.function,
    Op.LANE: _BlockWriter.lane,
    Op.SPECIAL: _BlockWriter.special,
    Op.ACTIVE: _BlockWriter.active,
    Op.BALLOT: _BlockWriter.ballot,
    Op.SHUFFLE: _BlockWriter.shuffle,
    Op.MATCH: _BlockWriter.match,
    Op.REDUCE: _BlockWriter.reduce,
    Op.COUNT: _BlockWriter.count,
    Op.GET: _BlockWriter.get,
    Op.LOAD: _BlockWriter.load,
    Op.STORE: _BlockWriter.store,
    Op.ATOMIC: _BlockWriter.atomic,
    Op.BULK: _BlockWriter.bulk,
    Op.CALL: _BlockWriter.call,
}
"""What writes each operation."""
