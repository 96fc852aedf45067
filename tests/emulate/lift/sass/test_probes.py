"""Machine code against PTX: probes compiled for each target must leave the same bytes as their source.

Once with inputs that differ between threads, once with inputs that are kernel parameters, for which the
compiler uses the uniform datapath.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.emulate import reference
from tests.emulate.lift.sass.machine import values
from tests.emulate.lift.sass.probes import PROBES
from warpwatt.core.arguments import Buffer, DType, Fill, Scalar
from warpwatt.core.launch import Dim3, Launch
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.lift import lift
from warpwatt.emulate.run import Limits
from warpwatt.frontend import toolchain
from warpwatt.isa.ptx import lower, parse
from warpwatt.isa.sass import programs, read_cubin
from warpwatt.program.binding import bind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from warpwatt.core.program import Program

CASES = [
    ("sm_75", False),
    ("sm_90", False),
    ("sm_100", False),
    ("sm_120", False),
    ("sm_75", True),
    ("sm_120", True),
]
MISPRINTED = {("sm_75", "bmsk"), ("sm_75", "addsat")}
"""nvdisasm 13.5 prints constant operands of these wrongly or as names: uncovered, and said so."""
THREADS, LAUNCHES = 96, 3
WORDS_IN, WORDS_OUT = 12, 8
_REGISTERS = """.reg .b32 %a,%b,%c,%i,%o<4>; .reg .b64 %x,%y,%z,%at,%in,%out,%w<2>;
.reg .pred %p,%q,%t<4>; .reg .b16 %h<4>;"""
_FROM_MEMORY = """(.param .u64 out, .param .u64 in) {{ {registers}
ld.param.u64 %in,[in]; mov.u32 %i,%tid.x; mul.wide.u32 %at,%i,48; add.u64 %in,%in,%at;
ld.global.v4.u32 {{%a,%b,%c,%i}},[%in]; ld.global.v2.u64 {{%x,%y}},[%in+16]; ld.global.u64 %z,[%in+32];"""
_FROM_PARAMETERS = """(.param .u64 out, .param .u32 a, .param .u32 b, .param .u32 c,
.param .u64 x, .param .u64 y, .param .u64 z) {{ {registers}
ld.param.u32 %a,[a]; ld.param.u32 %b,[b]; ld.param.u32 %c,[c];
ld.param.u64 %x,[x]; ld.param.u64 %y,[y]; ld.param.u64 %z,[z];"""
_BODY = """
and.b32 %i,%b,2; setp.ne.u32 %p,%i,0; and.b32 %i,%c,1; setp.ne.u32 %q,%i,0;
mov.u32 %o0,0; mov.u32 %o1,0; mov.u32 %o2,0; mov.u32 %o3,0; mov.u64 %w0,0; mov.u64 %w1,0;
{text}
ld.param.u64 %out,[out]; mov.u32 %i,%tid.x; mul.wide.u32 %at,%i,32; add.u64 %out,%out,%at;
st.global.v4.u32 [%out],{{%o0,%o1,%o2,%o3}}; st.global.v2.u64 [%out+16],{{%w0,%w1}}; ret; }}
"""


@dataclass(frozen=True)
class Compiled:
    """The probes that a target can do: as PTX and as machine code."""

    ptx: Mapping[str, Program]
    sass: Mapping[str, Program]


def _module(target: str, names: list[str], *, uniform: bool) -> str:
    head = (_FROM_PARAMETERS if uniform else _FROM_MEMORY).format(registers=_REGISTERS)
    kernels = [f".visible .entry {n}{head}{_BODY.format(text=PROBES[n])}" for n in names]
    return f".version 8.8\n.target {target}\n.address_size 64\n" + "\n".join(kernels)


@cache
def _compiled(folder: Path, target: str, uniform: bool) -> Compiled:
    """Compile the probes; those that ptxas refuses for the target are left out."""
    names = list(PROBES)
    source, cubin = folder / "probes.ptx", folder / "probes.cubin"
    for _ in range(3):
        source.write_text(_module(target, names, uniform=uniform))
        command: list[str | Path] = [
            toolchain.installed().require("ptxas"),
            "-arch",
            target,
            source,
            "-o",
            cubin,
        ]
        done = subprocess.run(
            command, env=toolchain.environment(), capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            break
        refused = _refused(source.read_text(), done.stderr)
        assert refused, done.stderr
        names = [n for n in names if n not in refused]
    module = parse(source.read_text())
    nvdisasm = toolchain.installed().require("nvdisasm")
    listing = subprocess.run([nvdisasm, "-json", cubin], capture_output=True, check=True).stdout
    machine = programs(read_cubin(cubin.read_bytes()), listing)
    return Compiled({n: lower(module, n) for n in names}, machine)


def _refused(text: str, errors: str) -> set[str]:
    """Return the kernels that the compiler's messages point into."""
    lines = text.splitlines()
    found = set()
    for number in re.findall(r"line (\d+)", errors):
        before = (
            entry for line in lines[int(number) - 1 :: -1] if (entry := re.search(r"entry (\w+)", line))
        )
        found.add(next(before)[1])
    return found


def _outputs(program: Program, *, uniform: bool) -> NDArray[Any]:
    """Return what every thread of every launch stored; nothing if an instruction has no semantics."""
    if not uniform:
        return _launch(program, {"in": values(3, THREADS * WORDS_IN)}, [], THREADS)
    rows = values(4, LAUNCHES * WORDS_IN).reshape(LAUNCHES, WORDS_IN).astype(np.uint64)
    return np.array([_launch(program, {}, [*r[:3], *(r[4:10:2] | r[5:10:2] << 32)], 32) for r in rows])


def _launch(program: Program, arrays: dict[str, Any], scalars: list[Any], threads: int) -> NDArray[Any]:
    keys = [p.name for p in program.parameters]
    buffers = {"out": np.zeros(threads * WORDS_OUT, np.uint32), **arrays}
    arguments: dict[str, Any] = {
        key: Buffer(DType.U32, (array.size,), Fill.ZEROS)
        for key, array in zip(keys, buffers.values(), strict=False)
    }
    arguments |= {key: Scalar(int(value)) for key, value in zip(keys[len(buffers) :], scalars, strict=True)}
    launch = Launch(Dim3(1), Dim3(threads), arguments=arguments)
    context, memory = load_launch(
        bind(program, launch), arrays=dict(zip(keys, buffers.values(), strict=False))
    )
    run = reference.run(
        lift(program), context, memory, [0], Limits(warp_instructions=100_000), warps_at_once=4
    )
    assert run.stop == "done", (program.name, run.fault)
    return np.empty(0) if run.unknown else memory.array(keys[0]).copy()


@pytest.mark.parametrize(("target", "uniform"), CASES)
def test_machine_code_does_what_its_ptx_says(
    target: str, uniform: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    compiled = _compiled(tmp_path_factory.mktemp("probes"), target, uniform)
    assert len(compiled.ptx) > 100
    wrong, uncovered = [], set()
    for name, ptx in compiled.ptx.items():
        wanted = _outputs(ptx, uniform=uniform)
        assert wanted.size, name
        found = _outputs(compiled.sass[name], uniform=uniform)
        if not found.size:
            uncovered.add((target, name))
        elif not np.array_equal(found, wanted):
            wrong.append(name)
    assert wrong == []
    assert uncovered <= (MISPRINTED if uniform else set())
