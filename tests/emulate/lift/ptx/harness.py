"""Runs a few lines of PTX on every lane: registers in from Python, registers out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.emulate.reference import run
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.layout import PARAMETER_BANK, layout
from warpwatt.emulate.lift import lift
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.run import Context, Limits, Run, Stop
from warpwatt.isa.ptx import lower, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warpwatt.emulate.ir import Routine

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
LIMITS = Limits(warp_instructions=100_000)
"""No test needs more: what spins for ever ends soon."""
_WIDTHS = {"pred": 8, "b16": 16, "b32": 32, "b64": 64}


def execute(
    text: str, arrays: Mapping[str, np.ndarray], *, threads: int = 32, kernel: str = "k", grid: int = 1
) -> tuple[dict[str, np.ndarray], Run, Routine]:
    """Run a kernel whose parameters are pointers to the arrays, in order; return the arrays afterwards."""
    program = lower(parse(text), kernel)
    routine = lift(program)
    memory = DeviceMemory()
    addresses = [memory.place(name, array) for name, array in arrays.items()]
    found = layout(program)
    banks = {PARAMETER_BANK: b"".join(a.to_bytes(8, "little") for a in addresses)}
    banks |= {3: next((image for space, image in found.images.items() if space.value == "const"), b"")}
    memory.set_variables(next(image for space, image in found.images.items() if space.value == "global"), {})
    shared = next(size for space, size in found.sizes.items() if space.value == "shared")
    local = next(size for space, size in found.sizes.items() if space.value == "local")
    launch = Launch(Dim3(grid), Dim3(threads))
    context = Context(launch, banks, shared + 1024, local)
    result = run(routine, context, memory, range(grid), LIMITS, warps_at_once=64)
    return {name: memory.array(name).copy() for name in arrays}, result, routine


def lanes(
    body: str, inputs: Mapping[str, tuple[str, Sequence[int]]], outputs: Mapping[str, str]
) -> dict[str, list[int]]:
    """Return what ``body`` leaves in the output registers of each thread.

    ``inputs`` are type (``b16 b32 b64 pred``) and values by register, ``outputs`` types by register; values
    are raw bits. Register names stand without ``%`` here and with it in the body.
    """
    count = len(next(iter(inputs.values()))[1])
    kinds = {name: kind for name, (kind, _) in inputs.items()} | dict(outputs)
    declared = "".join(f".reg .{kind} %{name};\n" for name, kind in kinds.items())
    parameters = ", ".join(f".param .u64 p_{name}" for name in (*inputs, *outputs))
    loads = "".join(_load(name, kind) for name, (kind, _) in inputs.items())
    stores = "".join(_store(name, kind) for name, kind in outputs.items())
    text = (
        f"{HEADER}.visible .entry k({parameters}) {{ {declared}.reg .b64 %at<3>; .reg .b32 %i<3>;\n"
        f".reg .b16 %w<2>;\nmov.u32 %i1, %tid.x;\n{loads}{body}\n{stores}ret; }}"
    )
    arrays = {name: np.array(values, f"u{_WIDTHS[kind] // 8}") for name, (kind, values) in inputs.items()} | {
        name: np.zeros(count, f"u{_WIDTHS[kind] // 8}") for name, kind in outputs.items()
    }
    found, result, routine = execute(text, arrays, threads=count)
    assert result.stop is Stop.DONE, result.fault
    assert not routine.uncovered, routine.uncovered
    return {name: [int(v) for v in found[name]] for name in outputs}


def _place(name: str, kind: str) -> str:
    return (
        f"ld.param.u64 %at1, [p_{name}]; mul.wide.u32 %at2, %i1, {_WIDTHS[kind] // 8};"
        " add.s64 %at1, %at1, %at2;\n"
    )


def _load(name: str, kind: str) -> str:
    if kind == "pred":
        return _place(name, kind) + f"ld.global.u8 %w1, [%at1]; setp.ne.b16 %{name}, %w1, 0;\n"
    return _place(name, kind) + f"ld.global.{kind} %{name}, [%at1];\n"


def _store(name: str, kind: str) -> str:
    if kind == "pred":
        return _place(name, kind) + f"selp.b16 %w1, 1, 0, %{name}; st.global.b8 [%at1], %w1;\n"
    return _place(name, kind) + f"st.global.{kind} [%at1], %{name};\n"


def one(body: str, kind: str, *inputs: tuple[str, Sequence[int]]) -> list[int]:
    """Return register ``%d`` of each thread; inputs are ``%a``, ``%b``, ``%c``, ``%e`` in order."""
    names = dict(zip("abce", inputs, strict=False))
    return lanes(body, names, {"d": kind})["d"]
