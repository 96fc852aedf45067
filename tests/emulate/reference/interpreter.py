"""Executes basic blocks of micro-operations on the lanes of one or many warps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tests.emulate.reference import atomics, floats, integers
from tests.emulate.reference.spaces import CONSTANT_WINDOWS, FaultError
from tests.emulate.reference.state import dtype_of, first_active, mask_of
from warpwatt.emulate.ir import Memory, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from tests.emulate.reference.spaces import Piece, Spaces
    from tests.emulate.reference.state import Warps
    from tests.emulate.reference.statistics import Statistics
    from warpwatt.emulate.ir import Block, Operation, Value

    Array = NDArray[Any]
    Function = Callable[[Array, Array, tuple[object, ...]], Array]

_IDENTITY: dict[Op, Callable[[np.dtype[Any]], Any]] = {
    Op.AND: lambda dtype: ~dtype.type(0),
    Op.UMIN: lambda dtype: ~dtype.type(0),
    Op.SMIN: lambda dtype: dtype.type(np.iinfo(dtype).max >> 1),
    Op.SMAX: lambda dtype: dtype.type((np.iinfo(dtype).max >> 1) + 1),
    Op.FMIN: lambda dtype: dtype.type(np.nan),
    Op.FMAX: lambda dtype: dtype.type(np.nan),
}
"""What a lane that takes no part contributes to a reduction; 0 by default."""


class Interpreter:
    """The values of one basic block while it is executed by the warps ``rows``, lanes ``active``."""

    def __init__(
        self,
        warps: Warps,
        spaces: Spaces,
        statistics: Statistics,
        functions: Mapping[str, Function],
        results: Callable[[Array, Array], Array],
    ) -> None:
        self.warps, self.spaces, self.statistics = warps, spaces, statistics
        self.functions, self.barrier_results = functions, results
        self.rows: Array = np.empty(0, np.int64)
        self.active: Array = np.empty((0, 32), np.bool_)
        self.values: dict[int, Array] = {}
        self.constants: set[int] = set()
        self.off: dict[int, int] = {}
        """Lanes that do not count, by instruction, in the block at hand."""

    def block(self, block: Block, rows: Array, active: Array) -> None:
        """Execute all operations of a block; :meth:`value` then gives what its end asks for."""
        self.rows, self.active, self.values, self.off = rows, active, {}, {}
        self.constants = set()
        for operation in block.operations:
            results = self._operation(operation)
            for result, array in zip(operation.results, results, strict=True):
                self.values[result.index] = array

    def value(self, value: Value) -> Array:
        """Return a value in all lanes, shape (warps, 32)."""
        return np.asarray(np.broadcast_to(self.values[value.index], self.active.shape))

    def uniform(self, value: Value) -> Array:
        """Return a uniform value per warp, shape (warps,)."""
        found = first_active(self.values[value.index], self.active)[:, 0]
        return np.asarray(np.broadcast_to(found, (len(self.rows),)))

    def _arguments(self, operation: Operation) -> list[Array]:
        return [self.values[a.index] for a in operation.args]

    def _lanes(self, operation: Operation) -> Array:
        """Return the active lanes whose mask is on."""
        return self.active if operation.mask is None else self.active & self.values[operation.mask.index]

    def _operation(self, operation: Operation) -> tuple[Array, ...]:
        special = _SPECIAL.get(operation.op)
        if special is not None:
            return tuple(special(self, operation))
        return (self._pure(operation),)

    def _pure(self, operation: Operation) -> Array:
        """Return an operation that looks at nothing but the arguments of its own lane."""
        op, arguments, dtype = operation.op, self._arguments(operation), dtype_of(operation.results[0])
        if op in floats.ROUNDED:
            return floats.ROUNDED[op](dtype, operation.data or "rn", *arguments)
        if op in floats.CONVERSIONS:
            return floats.CONVERSIONS[op](dtype, str(operation.data or "rn"), arguments[0])
        if op is Op.SELECT:
            return np.where(*arguments)
        if op is Op.MATH:
            return floats.math(str(operation.data), arguments[0])
        table = integers.OPERATIONS if op in integers.OPERATIONS else floats.OPERATIONS
        return np.asarray(table[op](*arguments))

    # -- registers and the warp ---------------------------------------------------------------------

    def _const(self, operation: Operation) -> Iterator[Array]:
        self.constants.add(operation.results[0].index)
        yield np.full((1, 1), operation.data, dtype_of(operation.results[0]))

    def _get(self, operation: Operation) -> Iterator[Array]:
        yield self.warps.get(str(operation.data), self.rows)

    def _set(self, operation: Operation) -> Iterator[Array]:
        value = self._arguments(operation)[0]
        self.warps.set(str(operation.data), self.rows, self._lanes(operation), value)
        yield from ()

    def _lane(self, operation: Operation) -> Iterator[Array]:
        del operation
        yield np.arange(32, dtype=np.uint32)[None]

    def _special(self, operation: Operation) -> Iterator[Array]:
        yield self.warps.special(str(operation.data), self.rows)

    def _active(self, operation: Operation) -> Iterator[Array]:
        del operation
        yield mask_of(self.active)

    def _ballot(self, operation: Operation) -> Iterator[Array]:
        yield mask_of(self.active & self._arguments(operation)[0])

    def _shuffle(self, operation: Operation) -> Iterator[Array]:
        value, lane = (np.broadcast_to(a, self.active.shape) for a in self._arguments(operation))
        yield np.take_along_axis(value, (lane & np.uint32(31)).astype(np.int64), axis=1)

    def _match(self, operation: Operation) -> Iterator[Array]:
        value = self.value(operation.args[0])
        bits = value if value.dtype == np.bool_ else integers.unsigned(value)
        same = (bits[:, :, None] == bits[:, None, :]) & self.active[:, None, :]
        yield np.asarray(mask_of(same.reshape(-1, 32)).reshape(self.active.shape))

    def _reduce(self, operation: Operation) -> Iterator[Array]:
        op, value = cast("Op", operation.data), self.value(operation.args[0])
        neutral = _IDENTITY[op](value.dtype) if op in _IDENTITY else value.dtype.type(0)
        parts = np.where(self._lanes(operation), value, neutral)
        while parts.shape[1] > 1:
            half = parts.shape[1] // 2
            parts = self._combine(op, parts[:, :half], parts[:, half:])
        yield parts

    def _combine(self, op: Op, a: Array, b: Array) -> Array:
        if op in floats.ROUNDED:
            return floats.ROUNDED[op](a.dtype, "rn", a, b)
        table = integers.OPERATIONS if op in integers.OPERATIONS else floats.OPERATIONS
        return np.asarray(table[op](a, b))

    def _count(self, operation: Operation) -> Iterator[Array]:
        off = self.active & ~self._arguments(operation)[0]
        index = operation.instruction if operation.data is None else cast("int", operation.data)
        self.off[index] = self.off.get(index, 0) + int(off.sum())
        yield from ()

    # -- memory ---------------------------------------------------------------------------------------

    def _access(self, operation: Operation, *, writes: bool) -> tuple[Array, list[Piece]]:
        """Return the lanes of an access and its pieces, having counted it."""
        memory = cast("Memory", operation.data)
        address = self.value(operation.args[0])
        lanes = np.broadcast_to(self._lanes(operation), self.active.shape)
        addresses = self.spaces.addresses(memory.space, address, memory.bank)
        bank = memory.bank if memory.space == "const" else None
        dtype = floats.DTYPES[memory.element]
        found = list(
            self.spaces.pieces(
                self.rows, addresses, lanes, dtype, memory.count,
                instruction=operation.instruction, bank=bank,
            )
        )  # fmt: skip
        if writes and any(piece.slot in CONSTANT_WINDOWS for piece in found):
            row, lane = (int(part[0]) for part in np.nonzero(lanes))
            raise FaultError(
                self.warps.fault(
                    int(self.rows[row]), lane, operation.instruction, int(addresses[row, lane]),
                    memory.bytes, "constant memory is written",
                )
            )  # fmt: skip
        if found and not (bank is not None and operation.args[0].index in self.constants):
            self.statistics.access(
                operation.instruction, addresses, lanes, memory.bytes, atomic=bool(memory.operation),
                warps=self.warps.trace_number(self.rows), grid_warps=self.warps.grid_number(self.rows),
            )  # fmt: skip
        return lanes, found

    def _load(self, operation: Operation) -> Iterator[Array]:
        _, pieces = self._access(operation, writes=False)
        for k, result in enumerate(operation.results):
            loaded = np.zeros(self.active.shape, dtype_of(result))
            for piece in pieces:
                loaded[piece.lanes] = piece.gather(k)
            yield loaded

    def _store(self, operation: Operation) -> Iterator[Array]:
        _, pieces = self._access(operation, writes=True)
        for piece in pieces:
            for k, value in enumerate(operation.args[1:]):
                piece.scatter(k, self.value(value)[piece.lanes])
        yield from ()

    def _atomic(self, operation: Operation) -> Iterator[Array]:
        _, pieces = self._access(operation, writes=True)
        memory = cast("Memory", operation.data)
        old = np.zeros(self.active.shape, floats.DTYPES[memory.element])
        for piece in pieces:
            operands = [self.value(value)[piece.lanes] for value in operation.args[1:]]
            old[piece.lanes] = atomics.apply(piece, memory.operation, operands)
        if operation.results:
            yield old

    # -- runtime functions ----------------------------------------------------------------------------

    def _call(self, operation: Operation) -> Iterator[Array]:
        """Call a runtime function once per warp, on raw 64-bit patterns of shape (arguments, 32)."""
        name, constants = cast("tuple[str, tuple[object, ...]]", operation.data)
        if name == "barrier_result":
            yield from self._barrier_result(operation, constants)
            return
        arguments = [_raw(self.value(a)) for a in operation.args]
        raw = np.stack(arguments, axis=1) if arguments else np.zeros((len(self.rows), 0, 32), np.uint64)
        lanes = np.broadcast_to(self._lanes(operation), self.active.shape)
        parts = [self.functions[name](raw[w], lanes[w], constants) for w in range(len(self.rows))]
        for k, result in enumerate(operation.results):
            yield _typed(np.stack([np.asarray(part, np.uint64)[k] for part in parts]), dtype_of(result))

    def _barrier_result(self, operation: Operation, constants: tuple[object, ...]) -> Iterator[Array]:
        """Return how many threads voted for, or whether any or all did, at a barrier's last end."""
        number = self.uniform(operation.args[0]) if operation.args else np.zeros(len(self.rows), np.uint32)
        votes = self.barrier_results(self.warps.block_of[self.rows], number)
        kind = str(constants[0]) if constants else "popc"
        chosen = (
            votes[:, 0] if kind == "popc" else votes[:, 0] > 0 if kind == "or" else votes[:, 0] == votes[:, 1]
        )
        for result in operation.results:
            yield chosen[:, None].astype(dtype_of(result))


_SPECIAL: dict[Op, Callable[[Interpreter, Operation], Iterator[Array]]] = {
    Op.CONST: Interpreter._const,
    Op.GET: Interpreter._get,
    Op.SET: Interpreter._set,
    Op.LANE: Interpreter._lane,
    Op.SPECIAL: Interpreter._special,
    Op.ACTIVE: Interpreter._active,
    Op.BALLOT: Interpreter._ballot,
    Op.SHUFFLE: Interpreter._shuffle,
    Op.MATCH: Interpreter._match,
    Op.REDUCE: Interpreter._reduce,
    Op.COUNT: Interpreter._count,
    Op.LOAD: Interpreter._load,
    Op.STORE: Interpreter._store,
    Op.ATOMIC: Interpreter._atomic,
    Op.CALL: Interpreter._call,
}


def _raw(value: Array) -> NDArray[np.uint64]:
    """Return values as 64-bit patterns."""
    return (value if value.dtype == np.bool_ else integers.unsigned(value)).astype(np.uint64)


def _typed(raw: NDArray[np.uint64], dtype: np.dtype[Any]) -> Array:
    """Return 64-bit patterns as values."""
    if dtype == np.bool_:
        return (raw & np.uint64(1)).astype(np.bool_)
    return raw.astype(f"u{dtype.itemsize}").view(dtype)
