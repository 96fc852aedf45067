"""What ptxas makes of division, square root and variables, run on the reference engine."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tests.emulate import reference
from tests.emulate.lift.sass.exact import applied, floats, same
from warpwatt.core.arguments import Buffer, DType
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.layout import linked
from warpwatt.emulate.lift import lift
from warpwatt.frontend.load import load
from warpwatt.frontend.options import CompileOptions
from warpwatt.program.binding import bind

COUNT = 512
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_120")
BUFFERS = {np.float32: Buffer(DType.F32, (COUNT,)), np.float64: Buffer(DType.F64, (COUNT,))}


@lru_cache
def kernels(target: str) -> dict:
    options = CompileOptions(levels=frozenset(Level) - {Level.C})
    return {k.demangled: k for k in load(Path(__file__).parent / "arithmetic.cu", target, options)}


def run(target: str, name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kernel = kernels(target)[name]
    assert kernel.sass is not None
    assert kernel.ptx is not None
    buffer = BUFFERS[x.dtype.type]
    names = [p.source_name or p.name for p in kernel.ptx.parameters]
    given = {n: Buffer(buffer.dtype, buffer.shape, seed=k) for k, n in enumerate(names)}
    arrays = dict(zip(names, (np.zeros_like(x), x, y), strict=True))
    launch = Launch(Dim3(COUNT // 128), Dim3(128), arguments=given)
    context, memory = load_launch(bind(kernel.sass, launch, kernel.ptx.parameters), arrays=arrays)
    found = reference.run(lift(kernel.sass), context, memory, list(range(launch.grid.count)))
    assert found.stop == "done", found.fault
    assert not found.unknown
    return memory.array(names[0]).copy()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("name", "type_"), [("divide", np.float32), ("reciprocal", np.float32), ("divide_double", np.float64)]
)
def test_division_is_rounded_correctly(target, name, type_):
    x, y = floats(type_, 1, COUNT), floats(type_, 2, COUNT)
    with np.errstate(all="ignore"):
        wanted = type_(1) / y if name == "reciprocal" else x / y
    assert same(run(target, name, x, y), wanted).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "type_"), [("root", np.float32), ("root_double", np.float64)])
def test_square_root_is_rounded_correctly(target, name, type_):
    x = floats(type_, 3, COUNT)
    with np.errstate(all="ignore"):
        assert same(run(target, name, x, x), np.sqrt(x)).all()


@pytest.mark.parametrize("target", TARGETS[::3])
def test_directed_division_and_remainder(target):
    x, y = floats(np.float32, 4, COUNT), floats(np.float32, 5, COUNT)
    y = np.where(y == 0, np.float32(3), y)
    wanted = applied(lambda a, b: Fraction(a) / Fraction(b), lambda a, b: a / b, "rp", x, y)
    assert same(run(target, "divide_up", x, y), wanted).all()
    with np.errstate(all="ignore"):
        assert same(run(target, "remainder_of", x, y), np.fmod(x, y)).all()


@pytest.mark.parametrize("target", TARGETS[::3])
def test_nan_literals_keep_their_bits(target):
    """The logarithm of 0 takes its high word from a literal that the text calls a NaN."""
    x = np.abs(floats(np.float64, 6, COUNT))
    with np.errstate(all="ignore"):
        assert np.allclose(run(target, "logarithm", x, x), np.log(x), rtol=1e-15, atol=1e-15, equal_nan=True)


@pytest.mark.parametrize("target", TARGETS)
def test_variables_and_addresses_in_them(target):
    x = np.arange(COUNT, dtype=np.float32)
    program = kernels(target)["variables"].sass
    memory = linked(program)
    assert int.from_bytes(memory.globals[memory.offsets["pointer"] :][:8], "little") == memory.address(
        "counter"
    )
    found = run(target, "variables", x, x)[:128]
    assert (found == x[:128] * np.resize([2, 0.5], 128) + 3).all()
