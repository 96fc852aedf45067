"""Steps of operations across the lanes of a warp, and of special values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwatt.emulate.ir import Op, Type
from warpwatt.emulate.native.records import SPECIAL_REGISTERS, offset_of
from warpwatt.emulate.native.step_frame import NONE
from warpwatt.emulate.native.step_values import NoStepError
from warpwatt.emulate.native.tables import neutral
from warpwatt.emulate.run import CLOCK_TICK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warpwatt.emulate.ir import Operation
    from warpwatt.emulate.native.step_values import StepValues


def lane(steps: StepValues, operation: Operation) -> None:
    """LANE."""
    steps.bind(operation.results[0], steps.constants.lane_numbers(), scalar=False)


def special(steps: StepValues, operation: Operation) -> None:
    """Write SPECIAL."""
    (result,), name = operation.results, str(operation.data)
    if name.startswith("tid."):
        steps.bind(result, steps.make("tid", number="xyz".index(name[-1])), scalar=False)
    elif name in ("clock", "clock64", "globaltimer"):
        steps.bind(result, _clock(steps, name, result.type), scalar=True)
    else:
        made = steps.make("special", number=offset_of(SPECIAL_REGISTERS, name))
        steps.bind(result, made, scalar=True)


def _clock(steps: StepValues, name: str, type_: Type) -> int:
    """Return a value: the clock of the warp, or of all."""
    if name == "globaltimer":
        made = steps.make("clock of all", number=steps.length)
    else:
        made = steps.make("clock", number=steps.length)
        made = steps.make("mul i64", made, steps.constants.value(64, CLOCK_TICK))
    return steps.make("resize i64 i32", made) if type_ is Type.I32 else made


def active(steps: StepValues, operation: Operation) -> None:
    """ACTIVE."""
    steps.bind(operation.results[0], steps.make("active"), scalar=True)


def ballot(steps: StepValues, operation: Operation) -> None:
    """BALLOT."""
    steps.bind(operation.results[0], steps.make("ballot", steps.at(operation.args[0])), scalar=True)


def shuffle(steps: StepValues, operation: Operation) -> None:
    """SHUFFLE."""
    value, lanes = operation.args
    made = steps.make(f"shuffle {value.type.bits}", steps.at(value), steps.at(lanes))
    scalar = steps.are_scalar(value) or steps.are_scalar(lanes)
    steps.bind(operation.results[0], made, scalar=scalar)


def match(steps: StepValues, operation: Operation) -> None:
    """MATCH."""
    steps.address(operation.args[0])
    steps.bind(operation.results[0], steps.make("match"), scalar=steps.are_scalar(*operation.args))


def reduce(steps: StepValues, operation: Operation) -> None:
    """REDUCE."""
    value = operation.args[0]
    mask = operation.mask if operation.mask is not None else (operation.args[1:] or (None,))[0]
    how = Op(str(operation.data))
    if how in (Op.FMIN, Op.FMAX, Op.FADD):
        raise NoStepError(how)
    nothing = neutral(how, value.type)
    made = steps.make(f"reduce {how} {value.type}", steps.at(value), NONE, steps.mask(mask), number=nothing)
    steps.bind(operation.results[0], made, scalar=True)


def count(steps: StepValues, operation: Operation) -> None:
    """COUNT."""
    steps.step("count", steps.at(operation.args[0]), number=len(steps.routine.guarded))
    assert isinstance(operation.data, int)
    steps.routine.guarded.append(operation.data)


LANES: Mapping[Op, Callable[[StepValues, Operation], None]] = {
    Op.LANE: lane,
    Op.SPECIAL: special,
    Op.ACTIVE: active,
    Op.BALLOT: ballot,
    Op.SHUFFLE: shuffle,
    Op.MATCH: match,
    Op.REDUCE: reduce,
    Op.COUNT: count,
}
"""What writes each operation on lanes."""
