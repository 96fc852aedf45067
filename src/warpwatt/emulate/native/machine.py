"""The records of one run, laid out as :mod:`~warpwatt.emulate.native.state` says."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.launch import WARP_SIZE
from warpwatt.emulate.ir import ATOMICS, SPECIALS, End, Memory, Type
from warpwatt.emulate.native import state
from warpwatt.emulate.native.atomics import DOUBLE, HALF, INTEGER, SINGLE
from warpwatt.emulate.native.memory_text import BANK_BYTES, called
from warpwatt.emulate.native.pointers import bytes_at, i64_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Block, Operation
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.native.routine_text import RoutineText
    from warpwatt.emulate.run import Context, Limits

_KINDS = {Type.F16: HALF, Type.F32: SINGLE, Type.F64: DOUBLE}
_BANKS = 32
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_STEP_BYTES, _ACCESS_BYTES, _LINE_BYTES = 12, 24, 8


class Machine:
    """Memory for one run of compiled code; ``words`` is the machine's record, ``address`` where it lies.

    Everything the record points to is kept alive by this object.
    """

    def __init__(
        self,
        text: RoutineText,
        context: Context,
        memory: DeviceMemory,
        blocks: tuple[int, ...],
        limits: Limits,
    ) -> None:
        self.text, self.context, self.memory, self.blocks = text, context, memory, blocks
        self.together = resident(context, blocks)
        self._kept: list[Any] = []
        self._error: BaseException | None = None
        self.words = self._aligned(state.MACHINE_WORDS * 8).view(np.int64)
        self.address = self.words.ctypes.data
        self._launch()
        self._memory()
        self._tables()
        self._trace(limits.trace_bytes if text.record else 0)
        self.begin(blocks, limits)

    def begin(self, blocks: tuple[int, ...], limits: Limits) -> None:
        """Make everything as it is before a run of some blocks, as many of them together as in the first run.

        The trace has no more room than the first run's.
        """
        words, part = self.words, limits.trace_bytes // 3
        self.blocks, self._numbers = blocks, np.array(blocks, np.int64)
        words[state.BUDGET], words[state.CLOCK], words[state.FAULT] = limits.warp_instructions, 0, 0
        words[state.BLOCKS], words[state.BLOCK_COUNT] = self._numbers.ctypes.data, len(blocks)
        words[[state.STEP_COUNT, state.ACCESS_COUNT, state.LINE_COUNT, state.DROPPED]] = 0
        words[state.STEP_ROOM] = min(len(self.steps), part // _STEP_BYTES)
        words[state.ACCESS_ROOM] = min(len(self.accesses), part // _ACCESS_BYTES)
        words[state.LINE_ROOM] = min(len(self.lines), part // _LINE_BYTES)
        for table in (self.executions, self.lanes, self.guarded, self.counters):
            table[...] = 0

    def raise_pending(self) -> None:
        """Raise what a runtime function in Python has raised, if one has."""
        if self._error is not None:
            raise self._error

    def warp(self, place: int) -> NDArray[np.uint8]:
        """Return the record of a resident warp."""
        size = int(self.words[state.WARP_BYTES])
        return bytes_at(int(self.words[state.WARP_RECORDS]) + place * size, size)

    def routine_block(self, lane: int) -> Block:
        """Return the basic block a waiting lane stands for."""
        return self.text.routine.blocks[lane & state.STATE_BITS]

    def block_number(self, record: int) -> int:
        """Return the number in the grid of a resident block, by where its record lies."""
        return int(i64_at(record, state.BLOCK_WORDS)[state.B_NUMBER])

    # -- parts ----------------------------------------------------------------------------------------

    def _launch(self) -> None:
        """Dimensions, and the records of the blocks that are resident together."""
        launch, words = self.context.launch, self.words
        together = self.together
        words[state.BLOCK_X : state.BLOCK_Z + 1] = launch.block.x, launch.block.y, launch.block.z
        words[state.GRID_X : state.GRID_Z + 1] = launch.grid.x, launch.grid.y, launch.grid.z
        words[state.CLUSTER_X : state.CLUSTER_Z + 1] = launch.cluster.x, launch.cluster.y, launch.cluster.z
        warps = -(-launch.block.count // WARP_SIZE)
        words[state.THREADS], words[state.WARPS], words[state.RESIDENT] = launch.block.count, warps, together
        words[state.SMS] = self.context.sms
        warp_bytes = state.W_REGISTERS + self.text.register_bytes
        words[state.WARP_BYTES] = warp_bytes
        words[state.WARP_RECORDS] = self._room(together * warps * warp_bytes)
        words[state.BLOCK_RECORDS] = self._room(together * state.BLOCK_WORDS * 8)
        words[state.SHARED_BYTES], words[state.LOCAL_BYTES] = self.context.shared, self.context.local
        words[state.SHARED_STRIDE] = -(-max(1, self.context.shared) // 64) * 64
        words[state.LOCAL_STRIDE] = -(-self.context.local // 16) * 16
        words[state.SHARED] = self._room(together * int(words[state.SHARED_STRIDE]))
        words[state.LOCAL] = self._room(together * warps * WARP_SIZE * int(words[state.LOCAL_STRIDE]))
        words[state.SPECIAL_TEMPLATE] = self._table(self._specials(warps))

    def _specials(self, warps: int) -> NDArray[np.int32]:
        """Return the special values that are the same for the whole grid, at their places."""
        launch = self.context.launch
        fixed = {
            "nwarpid": warps, "nsmid": self.context.sms, "cluster_nctarank": launch.cluster.count,
            "dynamic_smem_size": launch.dynamic_shared, "total_smem_size": self.context.shared,
        }  # fmt: skip
        for axis in "xyz":
            block, grid, cluster = (getattr(d, axis) for d in (launch.block, launch.grid, launch.cluster))
            fixed[f"ntid.{axis}"], fixed[f"nctaid.{axis}"] = block, grid
            fixed[f"cluster_nctaid.{axis}"], fixed[f"nclusterid.{axis}"] = cluster, -(-grid // cluster)
        return np.array([fixed.get(name, 0) for name in SPECIALS], np.int32)

    def _memory(self) -> None:
        """Buffers and constant banks."""
        memory, words = self.memory, self.words
        words[state.BASES], words[state.SIZES] = memory.bases.ctypes.data, memory.sizes.ctypes.data
        words[state.PAGE_FLAGS] = memory.page_flags.ctypes.data
        words[state.FILL_KINDS] = memory.fill_kinds.ctypes.data
        words[state.FILL_KEYS] = memory.fill_keys.ctypes.data
        words[state.TOUCH] = self._callback(memory.touch)
        bases, sizes = np.zeros(_BANKS, np.int64), np.zeros(_BANKS, np.int64)
        empty = self._room(BANK_BYTES)
        bases[:] = empty
        for number, data in self.context.banks.items():
            room = self._aligned(max(BANK_BYTES, len(data)) + 64)
            room[: len(data)] = np.frombuffer(data, np.uint8)
            bases[number], sizes[number] = room.ctypes.data, len(data)
        words[state.BANKS], words[state.BANK_SIZES] = self._table(bases), self._table(sizes)

    def _tables(self) -> None:
        """Tables that generated code and runtime look up: operations, counters, blocks."""
        text, words = self.text, self.words
        blocks = text.routine.blocks
        self.executions, self.lanes = np.zeros((2, len(blocks)), np.int64)
        self.guarded = np.zeros(max(1, len(text.guarded)), np.int64)
        self.counters = np.zeros((max(1, len(text.operations)), 4, state.COUNTER_WORDS), np.int64)
        words[state.EXECUTIONS], words[state.LANES] = self._table(self.executions), self._table(self.lanes)
        words[state.GUARDED], words[state.COUNTERS] = self._table(self.guarded), self._table(self.counters)
        rows = [_operation(operation) for operation in text.operations]
        words[state.OPERATIONS] = self._table(np.array(rows, np.int64).reshape(-1))
        targets = [b.end.targets[0] if b.end.end is End.CONVERGE else 0 for b in blocks]
        leavers = [text.offsets[b.end.leavers] if b.end.leavers is not None else 0 for b in blocks]
        words[state.TARGETS] = self._table(np.array(targets, np.int32))
        words[state.LEAVERS] = self._table(np.array(leavers, np.int32))
        pairs = [(b.address, i) for i, b in enumerate(blocks) if b.address is not None]
        words[state.ADDRESSES] = self._table(np.array(pairs, np.int64).reshape(-1))
        words[state.ADDRESS_COUNT] = len(pairs)
        words[state.CALL] = self._callback(self._call)

    def _trace(self, limit: int) -> None:
        """Room for the events of the run, a third of the limit for each kind."""
        words, part = self.words, limit // 3
        words[state.RECORD] = int(self.text.record)
        self.steps = np.empty((part // _STEP_BYTES, 3), np.int32)
        self.accesses = np.empty((part // _ACCESS_BYTES, 6), np.int32)
        self.lines = np.empty(part // _LINE_BYTES, np.uint64)
        words[state.STEPS], words[state.ACCESSES] = self._table(self.steps), self._table(self.accesses)
        words[state.LINES] = self._table(self.lines)

    # -- runtime functions in Python ------------------------------------------------------------------

    def _call(self, number: int, lanes: int) -> None:
        """Call a runtime function on the lanes' values in the machine; see ``CALL``."""
        operation = self.text.calls[number]
        name, constants = called(operation)
        area = self.words[state.LANE_VALUES : state.LANE_OLD].view(np.uint64).reshape(-1, WARP_SIZE)
        mask = (lanes >> np.arange(WARP_SIZE)) & 1 == 1
        results = _functions()[name](area[: len(operation.args)].copy(), mask, constants)
        for place, result in enumerate(results[: len(operation.results)]):
            area[place] = np.where(mask, result, np.uint64(0))

    def _callback(self, action: Callable[[int, int], None]) -> int:
        """Return the address of a native function that calls a Python one; its exception ends the run."""

        def guarded(first: int, second: int) -> int:
            try:
                action(first, second)
            except BaseException as error:  # noqa: BLE001 - raised behind the compiled code
                self._error = error
                self.words[state.FAULT] = state.FAILED
            return 0

        callback = _CALLBACK(guarded)
        self._kept.append(callback)
        return ctypes.cast(callback, ctypes.c_void_p).value or 0

    # -- memory ---------------------------------------------------------------------------------------

    def _aligned(self, size: int) -> NDArray[np.uint8]:
        """Return zero bytes that begin at a multiple of 64."""
        room = np.zeros(size + 64, np.uint8)
        self._kept.append(room)
        start = -room.ctypes.data % 64
        return room[start : start + size]

    def _room(self, size: int) -> int:
        return int(self._aligned(max(size, 64)).ctypes.data)

    def _table(self, array: NDArray[Any]) -> int:
        """Keep an array; return where it lies."""
        self._kept.append(array)
        return int(array.ctypes.data)


def resident(context: Context, blocks: tuple[int, ...]) -> int:
    """Return how many of some blocks run together."""
    together = len(blocks) if context.launch.cooperative else context.launch.cluster.count
    return max(1, min(together, len(blocks)))


def _functions() -> Mapping[str, Any]:
    """Return the runtime functions; most kernels call none."""
    from warpwatt.emulate.functions import FUNCTIONS  # noqa: PLC0415 - matrix code, not always needed

    return FUNCTIONS


def _operation(operation: Operation) -> list[int]:
    """Return the record of an operation on memory."""
    memory = operation.data
    assert isinstance(memory, Memory)
    atomic = ATOMICS.index(memory.operation) if memory.operation else 0
    element = memory.element.bits // 8
    row = dict.fromkeys(range(state.OPERATION_WORDS), 0)
    row |= {
        state.O_SPACE: state.SPACES.index(memory.space),
        state.O_ELEMENT: element, state.O_COUNT: memory.count,
        state.O_BYTES: memory.bytes, state.O_INSTRUCTION: operation.instruction, state.O_BANK: memory.bank,
        state.O_PROBE: int(memory.probe),
        state.O_ATOMIC: atomic, state.O_TYPE: _KINDS.get(memory.element, INTEGER),
    }  # fmt: skip
    return list(row.values())
