"""Copies, barrier objects and warp-group products of compiled kernels, executed and held against NumPy."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from warpwatt.core.arguments import Argument, Buffer, DType, Scalar, TensorMap
from warpwatt.core.errors import CompileError
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Level
from warpwatt.emulate.analysis import analyse_launch
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.functional import execute
from warpwatt.emulate.ir import Op
from warpwatt.emulate.lift import lift
from warpwatt.emulate.run import Stop
from warpwatt.emulate.slice import _name, control_slice
from warpwatt.frontend.load import load
from warpwatt.frontend.options import CompileOptions
from warpwatt.program.binding import bind

HERE = Path(__file__).parent
TYPES = {np.dtype(np.float16): DType.F16, np.dtype(np.float32): DType.F32, np.dtype(np.uint8): DType.U8}
SPANS = (0, 32, 64, 128)


@lru_cache
def kernels(name, target="sm_90a"):
    options = CompileOptions(levels=frozenset(Level) - {Level.C})
    return {k.demangled: k for k in load(HERE / name, target, options)}


def run(file, name, arguments, *, grid=(1,), block=(32,), cluster=(1,), shared=0, target="sm_90a"):
    """Execute a kernel; arrays by position, (array, box, swizzle) for tensor maps, numbers as they are."""
    kernel = kernels(file, target)[name]
    given: dict[str, Argument] = {}
    arrays = {}
    for place, argument in enumerate(arguments):
        array = argument[0] if isinstance(argument, tuple) else argument
        if not isinstance(array, np.ndarray):
            given[str(place)] = Scalar(argument)
            continue
        arrays[str(place)] = array
        kind = TYPES[array.dtype]
        plain = Buffer(kind, array.shape)
        given[str(place)] = (
            TensorMap(kind, array.shape, box=argument[1], swizzle=argument[2])
            if isinstance(argument, tuple)
            else plain
        )
    launch = Launch(Dim3(*grid), Dim3(*block), cluster=Dim3(*cluster), dynamic_shared=shared, arguments=given)
    context, memory = load_launch(bind(kernel.sass, launch, kernel.ptx.parameters), arrays=arrays)
    routine = lift(kernel.sass)
    assert not routine.uncovered
    outcome = execute(routine, context, memory)
    assert outcome.stop is Stop.DONE, outcome.fault
    return {place: memory.array(place).copy() for place in arrays}


def whole(shape, type_, seed=0):
    """Return small whole numbers, whose sums are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(type_)


def test_matrix_product_by_tensor_maps_and_warp_groups_is_exact():
    a, b = whole((128, 320), np.float16, 1), whole((192, 320), np.float16, 2)
    c = np.zeros((128, 192), np.float32)
    tile = ((64, 64), 128)
    found = run(
        "gemm.cu", "gemm", [(a, *tile), (b, *tile), c, 192, 320], grid=(3, 2), block=(160,), shared=66560
    )
    assert (found["2"] == a.astype(np.float64) @ b.astype(np.float64).T).all()


def test_product_in_tensor_memory_is_exact():
    a, b = whole((128, 64), np.float16, 1), whole((64, 64), np.float16, 2)
    d = np.zeros((128, 64), np.float32)
    arguments = [(a, (128, 64), 128), (b, (64, 64), 128), d]
    found = run("tensor_memory.cu", "multiply", arguments, block=(128,), shared=24576, target="sm_100a")
    assert (found["2"] == a.astype(np.float64) @ b.astype(np.float64).T).all()


def test_what_nobody_reads_of_tensor_memory_is_left_out():
    routine = lift(kernels("tensor_memory.cu", "sm_100a")["multiply"].sass)
    called = {str(_name(o)) for b in control_slice(routine).blocks for o in b.operations if o.op is Op.CALL}
    assert {"tensor load", "tensor multiply"} <= set(routine.functions)
    assert not called


def test_waits_say_which_phase_of_which_barrier_object():
    kernel = kernels("gemm.cu")["gemm"]
    maps: dict[str, Argument] = {
        str(i): TensorMap(DType.F16, (128, 320), box=(64, 64), swizzle=128) for i in range(2)
    }
    scalars: dict[str, Argument] = {"2": Buffer(DType.F32, (128, 128)), "3": Scalar(128), "4": Scalar(320)}
    launch = Launch(Dim3(2, 2), Dim3(160), dynamic_shared=66560, arguments=maps | scalars)
    streams = analyse_launch(kernel, launch, (Level.SASS,)).streams
    opcodes = [i.opcode for i in kernel.sass.instructions]
    waits = [k for k, i in enumerate(streams.access_instruction) if "PHASECHK" in opcodes[i]]
    assert waits
    assert (streams.objects[waits] >= 0).all()
    assert set(streams.changes[waits]) == {0.0, 1.0}


def swizzled(box, span):
    """Return the bytes of a box as they lie: units of 16 exchanged within each row of ``span`` bytes.

    PTX ISA, "Swizzling modes": of an address, bits 4-6 (128 B), 4-5 (64 B) or 4 (32 B) are combined with
    bits 7 and up by exclusive or.
    """
    plain = np.ascontiguousarray(box).view(np.uint8).reshape(-1, 16)
    if span == 0:
        return plain.reshape(-1)
    unit = np.arange(len(plain))
    to = unit ^ (unit // 8 % (span // 16))
    made = np.empty_like(plain)
    made[to] = plain
    return made.reshape(-1)


@pytest.mark.parametrize("swizzle", SPANS)
@pytest.mark.parametrize(("x", "y"), [(0, 0), (16, 5), (40, 17), (-8, -3), (64, 0)])
def test_box_lies_swizzled_with_zeros_outside_the_tensor(swizzle, x, y):
    tensor = whole((20, 48), np.float16)
    rows, columns = 16, max(16, swizzle // 2)
    padded = np.zeros((rows + 60, columns + 160), np.float16)
    padded[20 : 20 + 20, 40 : 40 + 48] = tensor
    wanted = padded[20 + y : 20 + y + rows, 40 + x : 40 + x + columns]
    out = np.zeros(wanted.nbytes, np.uint8)
    arguments = [(tensor, (rows, columns), swizzle), out, x, y, wanted.nbytes]
    found = run("copies.cu", "load_one_box", arguments, shared=4096)
    assert (found["1"] == swizzled(wanted, swizzle)).all()


def test_a_map_in_memory_is_read_through_its_pointer():
    tensor, out = whole((20, 48), np.float16), np.zeros(16 * 32, np.uint8)
    arguments = [(tensor, (16, 16), 32), out, 16, 2, out.nbytes]
    by_value, by_pointer = (
        run("copies.cu", k, arguments, shared=4096) for k in ("load_one_box", "load_box_by_pointer")
    )
    assert (by_value["1"] == by_pointer["1"]).all()
    assert by_pointer["1"].any()


@pytest.mark.parametrize("swizzle", SPANS)
@pytest.mark.parametrize("add", [0, 1])
def test_box_is_stored_or_added_where_the_tensor_is(swizzle, add):
    tensor, box = whole((20, 40), np.float32, 1), whole((8, max(8, swizzle // 4)), np.float32, 2)
    wanted, (x, y) = tensor.copy(), (20, 15)
    part = wanted[y : y + 8, x : x + box.shape[1]]
    part[:] = box[: part.shape[0], : part.shape[1]] + (part if add else 0)
    image = swizzled(box, swizzle)
    found = run(
        "copies.cu",
        "store_one_box",
        [(tensor, box.shape, swizzle), image, x, y, box.nbytes, add],
        shared=4096,
    )
    assert (found["0"] == wanted).all()


def test_bulk_copies_of_bytes_there_and_back():
    data = whole(3 * 5 * 256, np.float32)
    found = run("copies.cu", "twice", [data, np.zeros_like(data), 5], grid=(3,), block=(64,))
    assert (found["1"] == 2 * data).all()


def test_source_that_needs_hopper_alone_is_compiled_for_it():
    options = CompileOptions(levels=frozenset({Level.SASS}))
    (kernel,) = load(HERE / "gemm.cu", "sm_90", options)
    assert kernel.sass is not None
    assert any(i.opcode.startswith("HGMMA") for i in kernel.sass.instructions)
    with pytest.raises(CompileError, match="requires"):
        load(HERE / "gemm.cu", "sm_80", options)
