"""The steps of one basic block and its record: its operations in order, its registers, its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import End, Op
from warpwatt.emulate.native.arithmetic_steps import ARITHMETIC
from warpwatt.emulate.native.lane_steps import LANES
from warpwatt.emulate.native.memory_steps import MEMORY
from warpwatt.emulate.native.records import CODES, STEP, STEP_BLOCK
from warpwatt.emulate.native.step_frame import NONE, place_values
from warpwatt.emulate.native.step_values import StepValues
from warpwatt.emulate.native.tables import last_sets, used_values

if TYPE_CHECKING:
    from warpwatt.emulate.ir import Block, Operation, Terminator, Value
    from warpwatt.emulate.native.step_frame import Constants
    from warpwatt.emulate.native.tables import RoutineTables

_WRITES = {**ARITHMETIC, **LANES, **MEMORY}


class BlockSteps:
    """The steps of a block, ``rows``; their values share so many ``places`` of a frame."""

    def __init__(self, routine: RoutineTables, constants: Constants, block: Block) -> None:
        self._routine, self._block = routine, block
        self._steps = StepValues(routine, constants, max(1, len(block.instructions)))
        self._current: dict[str, Value] = {}
        self._write(block)
        end = block.end
        kept = self._steps.mask(end.condition), self._end_values(end)
        self.rows, (self._condition, self._value), self.places = place_values(self._steps.rows, kept)

    def record(self, start: int) -> tuple[object, ...]:
        """Return the block's record; ``start`` is the number of its first step in all of them."""
        end, block = self._block.end, self._block
        first, second, *_ = (*end.targets, NONE, NONE)
        fields = {
            "steps": start * STEP.itemsize, "count": len(self.rows), "length": self._steps.length,
            "end": CODES["end"][end.end], "targets": (first, second), "condition": self._condition,
            "value": self._value, "instruction": end.instruction, "arrive": end.arrive,
            "expected": end.value2 is not None, "may_fail": self._steps.may_fail,
            "leaves": self._routine.sets_leavers(block),
        }  # fmt: skip
        return tuple(fields[name] for name in STEP_BLOCK.names or ())

    def _write(self, block: Block) -> None:
        """Write the operations but GETs that nothing reads."""
        last, used = last_sets(block), used_values(block)
        for place, operation in enumerate(block.operations):
            if operation.op is Op.SET:
                self._set(operation, commit=place in last)
            elif operation.op is not Op.GET:
                _WRITES[operation.op](self._steps, operation)
            elif operation.results[0].index in used:
                self._get(operation)

    def _get(self, operation: Operation) -> None:
        """GET."""
        (result,), name, steps = operation.results, str(operation.data), self._steps
        if name in self._current:
            known = self._current[name]
            steps.bind(result, steps.at(known), scalar=steps.are_scalar(known))
            return
        kind, offset = self._routine.routine.registers[name], self._routine.offsets[name]
        how = "get uniform" if kind.uniform else "get"
        steps.bind(result, steps.make(f"{how} {kind.type.bits}", number=offset), scalar=kind.uniform)

    def _set(self, operation: Operation, *, commit: bool) -> None:
        """SET: the last one of a block writes the register, earlier ones are only remembered."""
        value, name, steps = operation.args[0], str(operation.data), self._steps
        mask = operation.mask or (operation.args[1] if len(operation.args) > 1 else None)
        if mask is None:
            self._current[name] = value
            if not commit:
                return
        else:
            self._current.pop(name, None)
        kind, offset = self._routine.routine.registers[name], self._routine.offsets[name]
        how = "set uniform" if kind.uniform else "set"
        steps.step(f"{how} {kind.type.bits}", steps.at(value), NONE, steps.mask(mask), number=offset)

    def _end_values(self, end: Terminator) -> int:
        """Hand the values of an end to the machine, but those of a CONVERGE, which are returned."""
        if end.value is None:
            return NONE
        if end.end is End.CONVERGE:
            return self._steps.at(end.value)
        self._steps.address(end.value)
        if end.value2 is not None:
            self._steps.argument(end.value2, 0)
        return NONE
