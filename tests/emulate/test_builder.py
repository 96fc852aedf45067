"""What :class:`~warpwatt.emulate.builder.Builder` makes of guards."""

from warpwatt.emulate.builder import Builder
from warpwatt.emulate.ir import Op, Type, Value


def guarded() -> tuple[Builder, Value, Value]:
    """Return a builder whose register R1 was written under its guard, the guard, and what was written."""
    builder = Builder()
    builder.declare("R1", Type.I32)
    builder.at(0)
    guard = builder.compare("ult", builder.lane(), builder.i32(7))
    builder.guard = guard
    written = builder.shl(builder.lane(), 2)
    builder.set("R1", written)
    return builder, guard, written


def test_under_the_same_guard_a_register_holds_what_was_written() -> None:
    builder, _, written = guarded()
    builder.at(1)
    assert builder.get("R1") == written


def test_without_the_guard_the_other_lanes_keep_the_old_value() -> None:
    builder, guard, written = guarded()
    builder.guard = None
    builder.at(1)
    chosen = builder.get("R1")
    (select,) = [o for o in builder.blocks[0].operations if o.op is Op.SELECT]
    assert select.results == (chosen,)
    assert select.args[:2] == (guard, written)


def test_a_second_write_under_the_guard_keeps_the_other_lanes_as_they_were() -> None:
    builder, guard, _ = guarded()
    first = builder.blocks[0].operations[-1].args[0]
    builder.at(1)
    builder.set("R1", builder.i32(9))
    second = [o for o in builder.blocks[0].operations if o.op is Op.SELECT][-1]
    assert (second.args[0], second.args[2]) == (guard, first)


def test_a_new_block_knows_nothing_of_the_guard() -> None:
    builder, _, written = guarded()
    builder.begin("next")
    builder.at(1)
    assert builder.get("R1") != written
