"""A routine as steps that C++ functions execute one after the other (``native/emulate/steps.h``).

Most launches run a few hundred instructions of each kind: to make machine code of them takes longer than to
run them so. Values are 32 lanes in a frame, which a basic block's values share once nothing reads them any
more. Operations that have no step (half precision, textures) leave a routine to LLVM.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from warpwatt.emulate.native.block_steps import BlockSteps
from warpwatt.emulate.native.records import STEP, STEP_BLOCK
from warpwatt.emulate.native.step_frame import VALUE_BYTES, Constants, offsets
from warpwatt.emulate.native.tables import RoutineTables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.native.records import Record

PATIENCE = 20_000
"""How often each step of a routine may run, on average, before machine code is worth its while: LLVM takes
about 0.1 ms for a step, which then takes some nanoseconds less."""


@dataclass(slots=True, eq=False)
class RoutineSteps(RoutineTables):
    """The steps of a routine and the tables that go with them; raises ``NoStepError`` where one lacks.

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
        constants = Constants()
        written = [BlockSteps(self, constants, block) for block in self.routine.blocks]
        self._steps = _table([row for block in written for row in block.rows], STEP, constants)
        starts = np.cumsum([0, *(len(block.rows) for block in written)])
        records = [block.record(start) for block, start in zip(written, starts, strict=False)]
        self.blocks = _table(records, STEP_BLOCK, constants)
        self.blocks["steps"] += np.uint64(self._steps.ctypes.data)
        self.constants = constants.lanes()
        self.frame_bytes = VALUE_BYTES * (len(constants) + max(block.places for block in written))
        self.patience = np.array([PATIENCE * len(self._steps)], np.int64)


_VALUES = {"result", "a", "b", "c", "condition", "value"}
"""The fields of records that are places in a frame."""


def _table(rows: Sequence[tuple[object, ...]], record: Record, constants: Constants) -> NDArray[np.void]:
    """Return records whose values lie where they do once all constants are known."""
    table = np.array(rows, record)
    for name in _VALUES.intersection(record.names or ()):
        table[name] = offsets(table[name], len(constants))
    return table
