"""The records of one run, laid out as :mod:`~warpwatt.emulate.native.records` says."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.launch import WARP_SIZE
from warpwatt.emulate.hazards import can_be_checked
from warpwatt.emulate.ir import PRODUCTS, End, Memory
from warpwatt.emulate.layout import CONSTANT_BYTES
from warpwatt.emulate.native import textures
from warpwatt.emulate.native.caller import WarpCaller
from warpwatt.emulate.native.records import (
    BLOCK,
    CODES,
    HAZARD,
    MACHINE,
    MEMORY_OPERATION,
    RANGE,
    REQUEST_COUNTERS,
    SHARED_WORD,
    SPECIAL_REGISTERS,
    TRACE_REQUEST,
    TRACE_STEP,
    WARP,
    record_at,
)
from warpwatt.emulate.native.tables import called
from warpwatt.emulate.system_functions import SYSTEM_FUNCTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from warpwatt.emulate.ir import Block, Operation
    from warpwatt.emulate.memory import DeviceMemory
    from warpwatt.emulate.native.steps import RoutineSteps
    from warpwatt.emulate.native.tables import RoutineTables
    from warpwatt.emulate.run import Context, Limits

_BANKS, _SPACES = 32, 4
CHECKED_REQUESTS = 10_000
"""Requests of shared memory of one machine's runs that hazards are looked for in: a millisecond."""
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class Machine:
    """Memory for one run of a routine's code; ``record`` is the machine's, ``address`` where it lies.

    Everything the record points to is kept alive by this object.
    """

    def __init__(
        self,
        tables: RoutineTables,
        context: Context,
        memory: DeviceMemory,
        blocks: tuple[int, ...],
        limits: Limits,
        *,
        spare: int = 0,
    ) -> None:
        self.tables, self.context, self.memory, self.blocks = tables, context, memory, blocks
        self.together = resident(context, blocks)
        self.places = self.together * (1 + spare // self.together)
        self._kept: list[Any] = []
        self._error: BaseException | None = None
        self.record = self._aligned(MACHINE.itemsize).view(MACHINE)[0]
        self.caller = WarpCaller(self.record, context, memory)
        self.address = int(self.record.__array_interface__["data"][0])
        self._launch()
        self._memory()
        self._textures()
        self._tables()
        self._trace(limits.trace_bytes if tables.record else 0)
        self._check()
        self.begin(blocks, limits)

    def begin(self, blocks: tuple[int, ...], limits: Limits) -> None:
        """Make everything as it is before a run of some blocks, as many of them together as in the first run.

        The trace has no more room than the first run's.
        """
        record, part = self.record, limits.trace_bytes // 3
        self.blocks, self._numbers = blocks, np.array(blocks, np.int64)
        record["budget"], record["clock"] = limits.warp_instructions, 0
        record["fault.reason"] = CODES["fault"]["none"]
        record["launch.blocks"], record["launch.block_count"] = self._numbers.ctypes.data, len(blocks)
        record["trace.dropped"] = record["trace.barrier_events"] = 0
        record["check.hazard_count"] = record["check.block"] = 0
        rooms = {"step": self.steps, "request": self.requests, "line": self.touched}
        for name, room in rooms.items():
            record[f"trace.{name}_room"] = min(len(room), part // room.itemsize)
            record[f"trace.{name}_count"] = 0
        for table in (self.executions, self.lanes, self.guarded, self.counters):
            table.view(np.uint8).fill(0)

    def interpret(self, steps: RoutineSteps, interpreter: int, compiled: Callable[[], int]) -> None:
        """Have steps run in place of machine code; with no patience left, what ``compiled`` returns."""

        def compile_() -> None:
            self.record["code.dispatch"] = compiled()

        frame = self._aligned(steps.frame_bytes)
        frame[: len(steps.constants)] = steps.constants
        self._set(
            "code",
            dispatch=interpreter,
            steps=self._table(steps.blocks),
            frame=self._table(frame),
            patience=self._table(steps.patience),
            compile=self._callback(lambda _first, _second: compile_()),
        )

    def access_directly(self) -> None:
        """Have accesses not counted, but held to the bounds of allocations."""
        self._set("code", ranges=self._table(np.zeros(max(1, len(self.tables.operations)), RANGE)))

    def raise_pending(self) -> None:
        """Raise what a runtime function in Python has raised, if one has."""
        if self._error is not None:
            raise self._error

    def warp(self, place: int) -> np.void:
        """Return the record of a resident warp."""
        first, size = (int(self.record[f"residents.{name}"]) for name in ("warps", "warp_bytes"))
        return record_at(first + place * size, WARP)

    def routine_block(self, lane: int) -> Block:
        """Return the basic block a waiting lane stands for."""
        return self.tables.routine.blocks[lane & CODES["lane"]["block bits"]]

    def block_number(self, warp: np.void) -> int:
        """Return the number in the grid of a warp's block."""
        return int(record_at(int(warp["block"]), BLOCK)["index_in_grid"])

    # -- parts ----------------------------------------------------------------------------------------

    def _set(self, part: str, **values: int) -> None:
        """Write fields of one part of the record."""
        for name, value in values.items():
            self.record[f"{part}.{name}"] = value

    def _launch(self) -> None:
        """Dimensions, and the records of the blocks that are resident together."""
        launch, context, places = self.context.launch, self.context, self.places
        for part in ("block", "grid", "cluster"):
            extent = getattr(launch, part)
            self._set(f"launch.{part}", x=extent.x, y=extent.y, z=extent.z)
        warps = -(-launch.block.count // WARP_SIZE)
        self._set(
            "launch",
            threads_per_block=launch.block.count,
            warps_per_block=warps,
            sms=context.sms,
            resident_blocks=self.together,
            places=places,
            first_turn=context.first_turn,
        )
        warp_bytes = WARP.itemsize + self.tables.register_bytes
        shared_stride = -(-max(1, context.shared) // 64) * 64
        local_stride = -(-context.local // 16) * 16
        self._set(
            "residents",
            blocks=self._room(places * BLOCK.itemsize),
            warps=self._room(places * warps * warp_bytes),
            warp_bytes=warp_bytes,
            shared=self._room(places * shared_stride),
            shared_bytes=context.shared,
            shared_stride=shared_stride,
            local=self._room(places * warps * WARP_SIZE * local_stride),
            local_bytes=context.local,
            local_stride=local_stride,
            special=self._table(self._special_registers(warps)),
        )

    def _special_registers(self, warps: int) -> NDArray[np.void]:
        """Return the special registers that are the same for the whole grid."""
        launch = self.context.launch
        special = np.zeros(1, SPECIAL_REGISTERS)
        fixed = {
            "nwarpid": warps, "nsmid": self.context.sms, "cluster_nctarank": launch.cluster.count,
            "dynamic_smem_size": launch.dynamic_shared, "total_smem_size": self.context.shared,
        }  # fmt: skip
        for axis in "xyz":
            block, grid, cluster = (getattr(d, axis) for d in (launch.block, launch.grid, launch.cluster))
            fixed[f"ntid.{axis}"], fixed[f"nctaid.{axis}"] = block, grid
            fixed[f"cluster_nctaid.{axis}"], fixed[f"nclusterid.{axis}"] = cluster, -(-grid // cluster)
        for name, value in fixed.items():
            special[name] = value
        return special

    def _memory(self) -> None:
        """Buffers and constant banks."""
        memory = self.memory
        tables = ("bases", "sizes", "page_flags", "fill_kinds", "fill_keys", "fill_factors")
        self._set("global", **{name: getattr(memory, name).ctypes.data for name in tables})
        self._set("global", make_pages=self._callback(memory.touch))
        starts, ends = memory.allocations
        allocated = {"starts": self._table(starts), "ends": self._table(ends), "count": len(starts)}
        self._set("global", **{f"allocation_{name}": value for name, value in allocated.items()})
        bases, sizes = np.zeros(_BANKS, np.int64), np.zeros(_BANKS, np.int64)
        bases[:] = self._room(CONSTANT_BYTES)
        for number, data in self.context.banks.items():
            room = self._aligned(max(CONSTANT_BYTES, len(data)) + 64)
            room[: len(data)] = np.frombuffer(data, np.uint8)
            bases[number], sizes[number] = room.ctypes.data, len(data)
        self._set("constant", bases=self._table(bases), sizes=self._table(sizes))

    def _textures(self) -> None:
        """Texture and surface objects, if the routine reads any."""
        names = {called(operation)[0] for operation in self.tables.calls}
        if not names & textures.NAMES:
            return
        known = textures.table(self.memory.textures, self.memory)
        self._set("textures", all=self._table(known), count=len(known))
        if "texture_rows" in names:
            others = textures.undescribed(self.memory)
            self._set("textures", undescribed=self._table(others), others=len(others))

    def _tables(self) -> None:
        """Tables that generated code and run time look up: operations, counters, basic blocks."""
        tables = self.tables
        blocks = tables.routine.blocks
        self.executions, self.lanes = np.zeros((2, len(blocks)), np.int64)
        self.guarded = np.zeros(max(1, len(tables.guarded)), np.int64)
        self.counters = np.zeros((max(1, len(tables.operations)), _SPACES), REQUEST_COUNTERS)
        self._set(
            "totals",
            executions=self._table(self.executions),
            lanes=self._table(self.lanes),
            guarded=self._table(self.guarded),
            requests=self._table(self.counters),
        )
        targets = [b.end.targets[0] if b.end.end is End.CONVERGE else 0 for b in blocks]
        leavers = [tables.offsets[b.end.leavers] if b.end.leavers is not None else 0 for b in blocks]
        pairs = [(b.address, i) for i, b in enumerate(blocks) if b.address is not None]
        instructions = [(b.instructions.start, b.instructions.stop) for b in blocks]
        self._set(
            "code",
            operations=self._table(_operations(tables)),
            operation_count=len(tables.operations),
            block_instructions=self._table(np.array(instructions, np.int64)),
            block_count=len(blocks),
            guarded_instructions=self._table(np.array(tables.guarded, np.int64)),
            guard_count=len(tables.guarded),
            converge_targets=self._table(np.array(targets, np.int32)),
            converge_leavers=self._table(np.array(leavers, np.int32)),
            branch_targets=self._table(np.array(pairs, np.int64)),
            branch_target_count=len(pairs),
            call=self._callback(self._call),
            zeros=self._table(np.array([self._zeros(o) for o in tables.calls], np.int64)),
        )

    def _zeros(self, operation: Operation) -> int:
        """Return how many results of a runtime function are replaced by zeros; 0 where it is called."""
        is_unknown = self.context.unknown_factors and called(operation)[0] in PRODUCTS
        return len(operation.results) if is_unknown else 0

    def _trace(self, limit: int) -> None:
        """Room for the events of the run, a third of the limit for each kind."""
        part = limit // 3
        self.steps = np.empty(part // TRACE_STEP.itemsize, TRACE_STEP)
        self.requests = np.empty(part // TRACE_REQUEST.itemsize, TRACE_REQUEST)
        self.touched = np.empty(part // 8, np.uint64)
        self._set(
            "trace",
            enabled=int(self.tables.record),
            steps=self._table(self.steps),
            requests=self._table(self.requests),
            lines=self._table(self.touched),
        )

    def _check(self) -> None:
        """Room to look for hazards in shared memory, if barriers alone order it."""
        launch, shared = self.context.launch, self.context.shared
        self.hazards = np.zeros(CODES["hazard"]["most"], HAZARD)
        alone = launch.cluster.count == 1 and not launch.cooperative
        if not shared or not alone or not can_be_checked(self.tables.routine.program):
            return
        words = -(-shared // 4)
        self._set(
            "check",
            words=self._table(np.zeros(words, SHARED_WORD)),
            word_count=words,
            hazards=self._table(self.hazards),
            requests_left=CHECKED_REQUESTS,
        )

    # -- runtime functions in Python ------------------------------------------------------------------

    def _call(self, number: int, lanes: int) -> None:
        """Call a runtime function on the lanes' values in the machine; see ``CALL``."""
        operation = self.tables.calls[number]
        name, constants = called(operation)
        area = self.record["values"].reshape(-1, WARP_SIZE)
        mask = (lanes >> np.arange(WARP_SIZE)) & 1 == 1
        args = area[: len(operation.args)].copy()
        if name in SYSTEM_FUNCTIONS:
            results = SYSTEM_FUNCTIONS[name](self.caller, args, mask, constants)
        else:
            results = _functions()[name](args, mask, constants)
        for place, result in enumerate(results[: len(operation.results)]):
            area[place] = np.where(mask, result, np.uint64(0))

    def _callback(self, action: Callable[[int, int], None]) -> int:
        """Return the address of a native function that calls a Python one; its exception ends the run."""

        def guarded(first: int, second: int) -> int:
            try:
                action(first, second)
            except BaseException as error:  # noqa: BLE001 - raised behind the compiled code
                self._error = error
                self.record["fault.reason"] = CODES["fault"]["python"]
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
    all_at_once = context.launch.cooperative or context.first_turn
    together = len(blocks) if all_at_once else context.launch.cluster.count
    return max(1, min(together, len(blocks)))


def _functions() -> Mapping[str, Any]:
    """Return the runtime functions; most kernels call none."""
    from warpwatt.emulate.functions import FUNCTIONS

    return FUNCTIONS


@lru_cache(maxsize=64)
def _operations(tables: RoutineTables) -> NDArray[np.void]:
    """Return the records of a routine's operations on memory."""
    rows = [_operation(operation) for operation in tables.operations]
    return np.array(
        [tuple(row[name] for name in MEMORY_OPERATION.names or ()) for row in rows], MEMORY_OPERATION
    )


def _operation(operation: Operation) -> dict[str, int]:
    memory = operation.data
    assert isinstance(memory, Memory)
    assert memory.bytes <= CODES["request"]["most bytes"]
    return {
        "space": CODES["space"][memory.space],
        "element_bytes": memory.element.bits // 8,
        "count": memory.count,
        "bytes": memory.bytes,
        "instruction": operation.instruction,
        "bank": memory.bank,
        "probe": int(memory.probe),
        "atomic": CODES["atomic"]["add" if memory.bulk else memory.operation],
        "bulk": CODES["bulk"][memory.bulk],
        "rank": memory.rank,
        "element": CODES["element"].get(memory.element, CODES["element"]["integer"]),
    }
