"""cuFFT: plans and what they do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.errors import InputError
from warpwatt.run.libraries.calls import Operation, Span, function
from warpwatt.run.libraries.numbers import C, D, Number, S, Z, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warpwatt.run.libraries.calls import State

VERSION = 12_000
FORWARD = -1
INVALID_PLAN = 1
IN_SHARED_MEMORY = 4096
"""Points of a transform that one pass over memory does (estimate: what 48 KiB of shared memory hold)."""
KINDS = {
    0x2A: (S, C), 0x2C: (C, S), 0x29: (C, C), 0x6A: (D, Z), 0x6C: (Z, D), 0x69: (Z, Z),
}  # fmt: skip
"""What goes in and comes out, by ``cufftType``."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the numbers of one side lie: extents of the array that holds them, and steps in numbers."""

    embed: tuple[int, ...]
    step: int
    distance: int


@dataclass(slots=True)
class Plan:
    """A transform, as it was asked for."""

    sizes: tuple[int, ...] = ()
    kind: int = 0
    batch: int = 1
    given: Layout | None = None
    made: Layout | None = None
    stream: int = 0

    @property
    def operations(self) -> float:
        """5 N log2 N for each of the batch, half of it for real numbers (the customary count)."""
        points = math.prod(self.sizes)
        halves = 2.5 if S in KINDS[self.kind] or D in KINDS[self.kind] else 5.0
        return halves * points * math.log2(max(2, points)) * self.batch

    @property
    def passes(self) -> float:
        """How often the data go through memory: as often as a dimension needs, for each of them."""
        each = [max(1, math.ceil(math.log2(max(2, n)) / math.log2(IN_SHARED_MEMORY))) for n in self.sizes]
        whole = math.prod(self.sizes) <= IN_SHARED_MEMORY
        return 1.0 if whole else float(sum(each))


@function("cufftCreate", "p")
def create(state: State, where: int) -> int:
    """Begin a plan that is made later."""
    state.create(where, Plan(), np.int32)
    return 0


@function("cufftDestroy", "i")
def destroy(state: State, which: int) -> int:
    """End a plan."""
    return 0 if state.objects.pop(which, None) is not None else INVALID_PLAN


@function("cufftPlan1d", "piii")
def plan_1d(state: State, where: int, nx: int, kind: int, batch: int) -> int:
    """Plan transforms of rows."""
    return _planned(state, where, Plan((nx,), kind, batch))


@function("cufftPlan2d", "piii")
def plan_2d(state: State, where: int, nx: int, ny: int, kind: int) -> int:
    """Plan a transform of a matrix."""
    return _planned(state, where, Plan((nx, ny), kind))


@function("cufftPlan3d", "piiii")
def plan_3d(state: State, where: int, nx: int, ny: int, nz: int, kind: int) -> int:
    """Plan a transform of a volume."""
    return _planned(state, where, Plan((nx, ny, nz), kind))


@function("cufftPlanMany", "pippiipiiii")
def plan_many(state: State, where: int, *given: int) -> int:
    """Plan transforms of any layout."""
    return _planned(state, where, _many(state, given, np.int32))


def _planned(state: State, where: int, plan: Plan) -> int:
    _checked(plan)
    state.create(where, plan, np.int32)
    return 0


def _many(state: State, given: Sequence[int], dtype: Any) -> Plan:
    rank, sizes, in_embed, in_step, in_dist, out_embed, out_step, out_dist, kind, batch = given

    def extents(address: int) -> tuple[int, ...]:
        return tuple(int(n) for n in state.memory.values(address, rank, dtype))

    before = Layout(extents(in_embed), in_step, in_dist) if in_embed else None
    after = Layout(extents(out_embed), out_step, out_dist) if out_embed else None
    return Plan(extents(sizes), kind, batch, before, after)


def _checked(plan: Plan) -> None:
    if plan.kind not in KINDS or plan.batch < 1 or any(n < 1 for n in plan.sizes):
        raise InputError(f"no transform of {plan.sizes} points, type {plan.kind:#x}, {plan.batch} times")


@function("cufftMakePlan1d", "iiiip")
def make_1d(state: State, which: int, nx: int, kind: int, batch: int, size: int) -> int:
    """Make a plan for transforms of rows."""
    return _made(state, which, Plan((nx,), kind, batch), size)


@function("cufftMakePlan2d", "iiiip")
def make_2d(state: State, which: int, nx: int, ny: int, kind: int, size: int) -> int:
    """Make a plan for a matrix."""
    return _made(state, which, Plan((nx, ny), kind), size)


@function("cufftMakePlan3d", "iiiiip")
def make_3d(state: State, which: int, nx: int, ny: int, nz: int, kind: int, size: int) -> int:
    """Make a plan for a volume."""
    return _made(state, which, Plan((nx, ny, nz), kind), size)


@function("cufftMakePlanMany", "iippiipiiiip")
def make_many(state: State, which: int, *given: int) -> int:
    """Make a plan for any layout."""
    return _made(state, which, _many(state, given[:-1], np.int32), given[-1])


@function("cufftMakePlanMany64", "iippllpllilp")
def make_many_64(state: State, which: int, *given: int) -> int:
    """Make a plan for any layout and size."""
    return _made(state, which, _many(state, given[:-1], np.int64), given[-1])


@function("cufftXtMakePlanMany", "iippllipllilpi")
def make_typed(state: State, which: int, *given: int) -> int:
    """Make a plan for any layout, the types of both sides given."""
    rank, sizes, in_embed, in_step, in_dist, before, out_embed, out_step, out_dist, after, batch, size, _ = (
        given
    )
    pair = number(before), number(after)
    kind = next((code for code, known in KINDS.items() if known == pair), 0)
    layout = rank, sizes, in_embed, in_step, in_dist, out_embed, out_step, out_dist, kind, batch
    return _made(state, which, _many(state, layout, np.int64), size)


def _made(state: State, which: int, plan: Plan, size: int) -> int:
    _checked(plan)
    before = state.objects.get(which)
    if not isinstance(before, Plan):
        return INVALID_PLAN
    plan.stream = before.stream
    state.objects[which] = plan
    state.memory.put_int(size, 0, np.uint64)
    return 0


@function("cufftSetStream", "il")
def set_stream(state: State, which: int, stream: int) -> int:
    """Let a plan run in a stream."""
    state.objects[which].stream = stream
    return 0


@function(["cufftSetAutoAllocation", "cufftSetWorkArea"], "ip")
def accept(*_: Any) -> int:
    """Take note of what changes no result."""
    return 0


@function("cufftGetSize", "ip")
def get_size(state: State, _: int, where: int) -> int:
    """Return the bytes that a plan works in: none, here."""
    state.memory.put_int(where, 0, np.uint64)
    return 0


@function("cufftGetVersion", "p")
def version(state: State, where: int) -> int:
    """Return the version that we stand in for."""
    state.memory.put_int(where, VERSION)
    return 0


@function(["cufftExecC2C", "cufftExecZ2Z", "cufftXtExec"], "ippi")
def execute(state: State, which: int, source: int, target: int, direction: int) -> Operation | int:
    """Transform complex numbers."""
    return _executed(state, which, source, target, direction)


@function(["cufftExecR2C", "cufftExecD2Z", "cufftExecC2R", "cufftExecZ2D"], "ipp")
def execute_real(state: State, which: int, source: int, target: int) -> Operation | int:
    """Transform from or to real numbers."""
    return _executed(state, which, source, target, FORWARD)


def _executed(state: State, which: int, source: int, target: int, direction: int) -> Operation | int:
    plan = state.objects.get(which)
    if not isinstance(plan, Plan) or not plan.sizes:
        return INVALID_PLAN
    before, after = KINDS[plan.kind]
    in_place = source == target
    reads = _view(state, plan, source, before, after, plan.given, in_place=in_place)
    writes = _view(state, plan, target, after, before, plan.made, in_place=in_place)

    def compute() -> None:
        writes[...] = transform(reads, plan, direction)

    return Operation(
        work=plan.operations,
        unit="fp64_add_mul_fma" if Z in (before, after) else "fp32_add_mul_fma",
        reads=(Span(source, float(reads.nbytes)),),
        writes=(Span(target, float(writes.nbytes)),),
        compute=compute,
        passes=plan.passes,
        kind="transform",
        stream=plan.stream,
    )


def transform(values: NDArray[Any], plan: Plan, direction: int) -> NDArray[Any]:
    """Return the transforms of a batch, not divided by the number of points, as cuFFT leaves them."""
    from scipy import fft

    before, after = KINDS[plan.kind]
    axes = tuple(range(1, 1 + len(plan.sizes)))
    if not before.is_complex:
        return np.asarray(fft.rfftn(values, axes=axes))
    if not after.is_complex:
        return np.asarray(fft.irfftn(values, s=plan.sizes, axes=axes, norm="forward"))
    if direction == FORWARD:
        return np.asarray(fft.fftn(values, axes=axes))
    return np.asarray(fft.ifftn(values, axes=axes, norm="forward"))


def _view(
    state: State, plan: Plan, address: int, own: Number, other: Number, layout: Layout | None,
    *, in_place: bool,
) -> NDArray[Any]:  # fmt: skip
    """Return the numbers of one side, shape (batch, *sizes); a view of memory.

    Real numbers that complex ones take the place of have room for one more of those in each row.
    """
    sizes, last = list(plan.sizes), plan.sizes[-1]
    halved = own.is_complex and not other.is_complex
    shape = [*sizes[:-1], last // 2 + 1 if halved else last]
    if layout is None:
        padded = in_place and not own.is_complex
        embed = [*shape[:-1], 2 * (last // 2 + 1) if padded else shape[-1]]
        layout = Layout(tuple(embed), 1, math.prod(embed))
    steps = [layout.step * math.prod(layout.embed[axis + 1 :]) for axis in range(len(shape))]
    furthest = sum(step * (n - 1) for step, n in zip(steps, shape, strict=True))
    count = layout.distance * (plan.batch - 1) + furthest + 1
    flat = state.memory.array(address, count, own.stored)
    strides = [own.bytes * step for step in (layout.distance, *steps)]
    return np.lib.stride_tricks.as_strided(flat, (plan.batch, *shape), strides)
