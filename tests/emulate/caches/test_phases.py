"""Accesses wait behind the barriers of their block."""

from dataclasses import replace

import numpy as np

from warpwatt.core.program import Instruction, Level, Program
from warpwatt.emulate.caches.stream import line_stream
from warpwatt.emulate.ir import Block, End, Memory, Op, Operation, Routine, Terminator, Type, Value
from warpwatt.emulate.run import NO_BARRIER_OBJECT, Trace
from warpwatt.emulate.scaling import concatenate


def _load(instruction: int) -> Operation:
    address = Value(0, Type.I64)
    return Operation(
        Op.LOAD, (Value(1, Type.I32),), (address,), Memory("global", Type.I32), None, instruction
    )


ROUTINE = Routine(
    Program("k", Level.PTX, "sm_90", tuple(Instruction(i, "ld") for i in range(4))),
    (
        Block(range(1), [_load(0)], Terminator(End.BARRIER, (1,))),
        Block(range(1, 3), [_load(1), _load(2)], Terminator(End.BRANCH, (0, 2))),
        Block(range(3, 4), [_load(3)]),
    ),
    {},
)


def trace(steps, accesses):
    """Return the trace of warps: blocks executed, and of each access its instruction and its step."""
    first = np.cumsum([0, *map(len, steps)])
    made = [place + step for place, own in zip(first, accesses, strict=False) for _, step in own]
    accesses = [[instruction for instruction, _ in own] for own in accesses]
    return Trace(
        step_start=np.cumsum([0, *map(len, steps)]),
        step_block=np.concatenate(steps).astype(np.int32),
        step_mask=np.ones(sum(map(len, steps)), np.uint32),
        access_start=np.cumsum([0, *map(len, accesses)]),
        access_instruction=np.concatenate(accesses).astype(np.int32),
        access_mask=np.ones(sum(map(len, accesses)), np.uint32),
        access_wavefronts=np.zeros(sum(map(len, accesses)), np.uint8),
        access_step=np.array(made),
        line_start=np.zeros(sum(map(len, accesses)) + 1, np.int64),
        lines=np.zeros(0, np.uint64),
        complete=True,
    )


def times(steps, accesses):
    """Return when the accesses of a block's warps come, each of which touches a line."""
    seen = trace(steps, accesses)
    count = len(seen.access_step)
    seen = replace(seen, lines=np.ones(count, np.uint64), line_start=np.arange(count + 1))
    return line_stream(seen, len(steps), ROUTINE.program, ROUTINE).time.tolist()


def test_every_access_is_behind_the_barriers_its_warp_has_passed():
    warp = [(0, 0), (1, 1), (2, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
    found = times([[0, 1, 0, 1, 2]] * 2, [warp, [(0, 0), (1, 3)]])
    assert found == [0, 1, 1, 3, 4, 4, 6, 0, 4]


def test_accesses_without_lanes_are_passed_over():
    warps = [[(1, 1), (0, 2), (2, 3), (3, 4)], [(0, 0), (1, 1), (2, 1), (3, 2)]]
    assert times([[0, 1, 0, 1, 2], [0, 1, 2]], warps) == [1, 2, 4, 5, 0, 1, 1, 3]


def test_a_trace_without_barrier_objects_is_joined_to_one_with_some():
    plain = trace([[0]], [[(0, 0)]])
    waiting = replace(plain, access_barrier=np.array([64], np.uint32), access_change=np.array([3], np.int64))
    assert concatenate([plain, plain]).access_barrier is None
    joined = concatenate([plain, waiting])
    assert joined.access_barrier is not None
    assert joined.access_change is not None
    assert joined.access_barrier.tolist() == [NO_BARRIER_OBJECT, 64]
    assert joined.access_change.tolist() == [0, 3]
    assert joined.access_step.tolist() == [0, 1]
