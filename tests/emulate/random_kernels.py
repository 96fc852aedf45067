"""Random small kernels: guards, offsets and strides along up to three axes, loops of unequal length."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.emulate.test_execution import HEAD
from warpwatt.core.arguments import Buffer, DType, Fill
from warpwatt.core.launch import Dim3, Launch

ELEMENTS = 1 << 22
_AXES = "xyz"
_DECLARED = ".reg .pred %q<9>; .reg .b32 %a<40>; .reg .b64 %d<9>; .reg .f32 %g<4>;\n"


@dataclass(frozen=True)
class RandomKernel:
    """A kernel's PTX and a launch of it whose grid is larger than what is run whole."""

    text: str
    launch: Launch


def random_kernel(seed: int) -> RandomKernel:
    """Return the kernel of a seed."""
    draw = random.Random(seed)
    axes = draw.randint(1, 3)
    grid = {1: (draw.randint(600, 3000),), 2: (draw.randint(25, 60), draw.randint(25, 60)),
            3: (draw.randint(8, 14), draw.randint(8, 14), draw.randint(9, 14))}[axes]  # fmt: skip
    block = {1: (draw.choice([32, 64, 96]),), 2: (draw.choice([8, 16, 32]), 4), 3: (8, 4, 2)}[axes]
    lines = [_DECLARED]
    for axis in range(axes):
        lines.append(_coordinate(axis))
        lines.append(_guard(draw, axis, grid[axis] * block[axis]))
    lines += [_index(draw, axes), _loop(draw), "DONE: ret; }"]
    buffers = {name: Buffer(DType.F32, (ELEMENTS,), Fill.ARANGE) for name in "xy"}
    launch = Launch(Dim3(*grid), Dim3(*block), arguments={**buffers, "n": Buffer(DType.F32, (1,))})
    return RandomKernel(HEAD + "\n".join(lines), launch)


def _coordinate(axis: int) -> str:
    """Leave the thread's place along an axis in %a0, %a1 or %a2."""
    name = _AXES[axis]
    return (
        f"mov.u32 %a10, %ctaid.{name}; mov.u32 %a11, %ntid.{name}; mov.u32 %a12, %tid.{name};"
        f"mad.lo.u32 %a{axis}, %a10, %a11, %a12;"
    )


def _guard(draw: random.Random, axis: int, threads: int) -> str:
    """Let threads leave: those beyond an edge, in front of one, or of every other row of blocks; or none."""
    edge = int(threads * draw.choice([0.01, 0.1, 0.35, 0.5, 0.9, 0.99, 1.0]))
    kind = draw.choice(["ge", "ge", "lt", "period", "none"])
    if kind == "none":
        return ""
    if kind == "period":
        period = draw.randint(2, 5)
        return (
            f"mov.u32 %a13, %ctaid.{_AXES[axis]}; rem.u32 %a13, %a13, {period};"
            f"setp.eq.u32 %q0, %a13, {draw.randrange(period)}; @%q0 bra DONE;"
        )
    if kind == "lt":
        edge = threads - edge
    return f"setp.{kind}.u32 %q0, %a{axis}, {max(1, edge)}; @%q0 bra DONE;"


def _index(draw: random.Random, axes: int) -> str:
    """Leave an element's number in %a20: strides along each axis, and an offset."""
    lines = [f"mov.u32 %a20, {draw.randint(0, 40)};"]
    lines += [
        f"mad.lo.u32 %a20, %a{axis}, {draw.choice([1, 1, 2, 7, 32, 33, 100])}, %a20;" for axis in range(axes)
    ]
    lines.append(f"and.b32 %a20, %a20, {ELEMENTS // 2 - 1};")
    return "".join(lines)


def _loop(draw: random.Random) -> str:
    """Load and store as often as the lane, the place or a constant says."""
    period, factor = draw.randint(1, 9), draw.randint(1, 5)
    trips = {
        "constant": f"mov.u32 %a21, {draw.randint(1, 6)};",
        "lanes": f"mul.lo.u32 %a21, %a0, {factor}; rem.u32 %a21, %a21, {period}; add.u32 %a21, %a21, 1;",
        "blocks": "mov.u32 %a21, %ctaid.x; shr.u32 %a21, %a21, 5; add.u32 %a21, %a21, 1;",
    }[draw.choice(["constant", "lanes", "blocks"])]
    return f"""{trips} mov.u32 %a22, 0;
ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mul.wide.u32 %d2, %a20, 4;
add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
TOP: ld.global.f32 %g0, [%d0]; st.global.f32 [%d1], %g0; add.u64 %d0, %d0, {4 * draw.choice([1, 1, 32, 64])};
add.u32 %a22, %a22, 1; setp.lt.u32 %q1, %a22, %a21; @%q1 bra TOP;"""
