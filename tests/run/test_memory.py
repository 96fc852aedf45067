"""What allocations of a program are called."""

from warpwatt.emulate.arena import ARENA
from warpwatt.run.memory import Allocations, Block
from warpwatt.run.protocol import Memory


def test_allocations_of_one_parameters_name_are_told_apart():
    """A kernel's first parameter points to each in turn: together they would have the size of one."""
    allocations = Allocations()
    for place in range(3):
        allocations.add(Block(ARENA + 4096 * place, 1024 * (place + 1), Memory.DEVICE))
    for place in (0, 1, 0, 2):
        allocations.named(ARENA + 4096 * place + 8, "x")
    assert [row.name for row in allocations.table().rows] == ["x", "x (2)", "x (3)"]
    assert [block.bytes for block in allocations.by_name("x (2)")] == [2048]
