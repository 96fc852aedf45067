"""Steps of LOAD, STORE, ATOMIC, BULK and CALL: arguments to the machine, the run time, results from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op
from warpwatt.emulate.native import textures
from warpwatt.emulate.native.records import CODES
from warpwatt.emulate.native.step_frame import NONE
from warpwatt.emulate.native.step_values import NoStepError
from warpwatt.emulate.native.tables import BULK_ARGUMENTS, called, is_operand

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.emulate.ir import Operation, Value
    from warpwatt.emulate.native.step_values import StepValues


def _row(steps: StepValues, operation: Operation) -> int:
    """Return the row of an access in the table of operations."""
    steps.may_fail = True
    steps.routine.operations.append(operation)
    return len(steps.routine.operations) - 1


def load(steps: StepValues, operation: Operation) -> None:
    """LOAD."""
    if is_operand(operation, steps.literals):
        _operand(steps, operation)
        return
    memory, (address, *_), mask = operation.memory, operation.args, steps.mask(operation.mask)
    row = _row(steps, operation)
    own = memory.space in ("local", "generic")  # at one address, each lane has its own local memory
    bits = memory.element.bits
    if steps.are_scalar(address) and not own:
        steps.step(f"uniform load {address.type.bits}", steps.at(address), NONE, mask, number=row)
        for number, result in enumerate([] if memory.probe else operation.results):
            made = steps.make(f"loaded for all {bits}", number=bits // 8 * number)
            _bind_masked(steps, result, made, operation.mask)
        return
    steps.address(address)
    steps.step("load", NONE, NONE, mask, number=row)
    for number, result in enumerate([] if memory.probe else operation.results):
        steps.bind(result, steps.make(f"loaded {bits}", number=4 * bits * number), scalar=False)


def _operand(steps: StepValues, operation: Operation) -> None:
    """LOAD from a constant bank at a known address."""
    memory, address = operation.memory, steps.literals[operation.args[0].index]
    bits = memory.element.bits
    for number, result in enumerate(operation.results):
        key = (bits, memory.bank, address + bits // 8 * number)
        if key not in steps.read:
            steps.read[key] = steps.make(f"constant {bits}", number=memory.bank << 32 | key[2])
        _bind_masked(steps, result, steps.read[key], operation.mask)


def _bind_masked(steps: StepValues, result: Value, at: int, mask: Value | None) -> None:
    """Bind what was read for all lanes; 0 where a mask does not hold."""
    scalar = True
    if mask is not None:
        bits, scalar = result.type.bits, steps.are_scalar(mask)
        at = steps.make(f"select {bits}", steps.at(mask), at, steps.constants.value(bits, 0))
    steps.bind(result, at, scalar=scalar)


def store(steps: StepValues, operation: Operation) -> None:
    """STORE."""
    memory, (address, *values) = operation.memory, operation.args
    row = _row(steps, operation)
    for number, value in enumerate([] if memory.probe else values[: memory.count]):
        bits = memory.element.bits
        steps.step(f"store element {value.type.bits}", steps.at(value), number=4 * bits * number)
    steps.address(address)
    steps.step("store", NONE, NONE, steps.mask(operation.mask), number=row)


def atomic(steps: StepValues, operation: Operation) -> None:
    """ATOMIC."""
    memory, (address, *operands) = operation.memory, operation.args
    row = _row(steps, operation)
    for place, value in enumerate(operands[: 2 if memory.operation == "cas" else 1]):
        steps.argument(value, place)
    steps.address(address)
    steps.step("atomic", NONE, NONE, steps.mask(operation.mask), number=row)
    for result in operation.results:
        steps.bind(result, steps.make(f"old value {result.type.bits}"), scalar=False)


def bulk(steps: StepValues, operation: Operation) -> None:
    """BULK."""
    row = _row(steps, operation)
    for place in range(BULK_ARGUMENTS):
        if place < len(operation.args):
            steps.argument(operation.args[place], place)
        else:
            steps.step("argument 64", steps.constants.value(64, 0), number=place)
    steps.step("bulk", NONE, NONE, steps.mask(operation.mask), number=row)


def call(steps: StepValues, operation: Operation) -> None:
    """CALL."""
    name, constants = called(operation)
    if name in textures.NAMES:
        raise NoStepError(name)
    steps.may_fail = True
    for place, value in enumerate(operation.args):
        steps.argument(value, place)
    if name == "barrier_result":
        how = CODES["barrier_result"][str(constants[0]) if constants else "popc"]
        steps.step("barrier results", number=how)
    else:
        number = len(steps.routine.calls)
        steps.step("call", NONE, NONE, steps.mask(operation.mask), number=number)
    steps.routine.calls.append(operation)
    for place, result in enumerate(operation.results):
        steps.bind(result, steps.make(f"result {result.type.bits}", number=place), scalar=False)


MEMORY: Mapping[Op, Callable[[StepValues, Operation], None]] = {
    Op.LOAD: load,
    Op.STORE: store,
    Op.ATOMIC: atomic,
    Op.BULK: bulk,
    Op.CALL: call,
}
"""What writes each operation on memory, and calls."""
