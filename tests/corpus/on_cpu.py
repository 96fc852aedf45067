"""Run a corpus program on the CPU: generate a driver, compile it with g++, feed it one size."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpwatt.core.arguments import Buffer
from warpwatt.frontend.signatures import blank_comments, parameter_names
from warpwatt.lab.measure.corpus import buffers, constant_symbols

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warpwatt.lab.measure.corpus import CorpusProgram, KernelLaunch

HERE = Path(__file__).parent
CACHE = HERE.parent.parent / "build" / "corpus-on-cpu"
FLAGS = (
    *("-std=c++17", "-O2", "-fno-pie", "-no-pie", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off"),
    "-fno-extern-tls-init",  # extern shared arrays have no initialiser to call
    *("-Wall", "-Wno-unknown-pragmas", "-Wno-return-type-c-linkage", "-Wno-unused-function"),
)
DYNAMIC_BYTES = 256 << 10
"""Room for extern shared arrays: above the 227 KiB of any GPU, and a margin that must stay untouched."""

_EXTERN_SHARED = re.compile(r"\bextern\s+(?:__align__\(\d+\)\s*)?__shared__[^;\[]*?(\w+)\s*\[\s*\]")


class CpuError(Exception):
    """The program does not compile for the CPU, or failed there; the text says where."""


def compiler() -> str | None:
    """Return the path of g++, or None."""
    return shutil.which("g++")


def run(
    program: CorpusProgram, size: str, inputs: Mapping[str, Any], order: int = 0
) -> dict[str, np.ndarray]:
    """Return all buffers after the launches of a size.

    ``order`` is the order of a block's threads: 0 forward, 1 reverse, above that a shuffle of that seed.

    Raises
    ------
    CpuError
        If compiling or running fails.
    """
    executable = build(program.source)
    names = [name for name, _ in buffers(program.size(size))]
    with tempfile.TemporaryDirectory() as scratch:
        job, before, after = (Path(scratch) / name for name in ("job", "before", "after"))
        before.write_bytes(b"".join(np.ascontiguousarray(inputs[name]).tobytes() for name in names))
        job.write_text(describe_job(program, size, inputs, order), encoding="utf-8")
        command = [str(executable), str(job), str(before), str(after)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise CpuError(f"{program.name}: {done.stderr.strip() or f'exit code {done.returncode}'}")
        data = after.read_bytes()
    found, start = {}, 0
    for name in names:
        like = inputs[name]
        found[name] = np.frombuffer(data, like.dtype, like.size, start).reshape(like.shape)
        start += like.nbytes
    return found


def describe_job(program: CorpusProgram, size: str, inputs: Mapping[str, Any], order: int) -> str:
    """Return the job in the text format that ``cpu/runtime.cpp`` reads."""
    names = [name for name, _ in buffers(program.size(size))]
    lines = [f"order {order}"]
    lines += [f"buffer {name} {inputs[name].nbytes}" for name in names]
    symbols = constant_symbols(program.source.read_text(encoding="utf-8"))
    lines += [f"symbol {name} {names.index(name)}" for name in symbols if name in names]
    lines += [_launch_line(one, names, symbols) for one in program.size(size).launches]
    return "\n".join(lines) + "\n"


def _launch_line(one: KernelLaunch, names: list[str], symbols: tuple[str, ...]) -> str:
    launch = one.launch
    extents = [*str(launch.grid).split(","), *str(launch.block).split(",")]
    words = ["launch", one.kernel, *extents, str(launch.dynamic_shared), str(launch.repeats)]
    for parameter, argument in launch.arguments.items():
        if isinstance(argument, Buffer):
            if parameter not in symbols:
                words.append(f"b{names.index(one.buffers[parameter])}")
        else:
            value = argument.value
            words.append(f"i{value}" if isinstance(value, int) else f"f{value.hex()}")
    return " ".join(words)


def build(source: Path) -> Path:
    """Return the executable of a program, compiled unless an equal one is cached.

    Raises
    ------
    CpuError
        If g++ is missing or refuses the source.
    """
    gxx = compiler()
    if gxx is None:
        raise CpuError("g++ is missing")
    text = driver(source)
    shim = sorted([HERE / "cuda_on_cpu.hpp", *HERE.glob("cpu/**/*.[hc]*")])
    parts = [text.encode(), source.read_bytes(), *(path.read_bytes() for path in shim), repr(FLAGS).encode()]
    executable = CACHE / f"{source.stem}-{hashlib.sha256(b'|'.join(parts)).hexdigest()[:16]}"
    if executable.is_file():
        return executable
    CACHE.mkdir(parents=True, exist_ok=True)
    for stale in CACHE.glob(f"{source.stem}-{'[0-9a-f]' * 16}"):
        stale.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        written = Path(scratch) / "driver.cpp"
        written.write_text(text, encoding="utf-8")
        made = Path(scratch) / "program"
        _compile([gxx, *FLAGS, *_includes(), str(written), *_runtime(gxx), "-o", str(made)])
        made.replace(executable)
    return executable


def _includes() -> list[str]:
    return [f"-I{HERE}", f"-I{HERE / 'cpu' / 'include'}"]


def _runtime(gxx: str) -> list[str]:
    """Return the objects that all programs share."""
    parts = [p.read_bytes() for p in sorted([HERE / "cuda_on_cpu.hpp", *HERE.glob("cpu/*.[hc]*")])]
    key = hashlib.sha256(b"|".join([*parts, repr(FLAGS).encode()])).hexdigest()[:16]
    return [str(_object(gxx, name, CACHE / f"{name}-{key}.o")) for name in ("runtime", "job")]


def _object(gxx: str, name: str, made: Path) -> Path:
    if not made.is_file():
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            fresh = Path(scratch) / "fresh.o"
            _compile([gxx, *FLAGS, *_includes(), "-c", str(HERE / "cpu" / f"{name}.cpp"), "-o", str(fresh)])
            fresh.replace(made)
    return made


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise CpuError(done.stderr.strip())


def driver(source: Path) -> str:
    """Return the C++ that includes a program unchanged and lists its kernels and constant symbols."""
    text = blank_comments(source.read_text(encoding="utf-8"))
    kernels = "".join(f'    cpu::entry<{name}>("{name}"),\n' for name in parameter_names(text))
    symbols = "".join(f'    {{"{n}", (void *)&{n}, sizeof({n})}},\n' for n in constant_symbols(text))
    return (
        '#include "cuda_on_cpu.hpp"\n#include "cpu/runtime.hpp"\n'
        f'#include "{source.resolve()}"\n{_dynamic_shared(text)}'
        f"extern const cpu::Entry cpu_entries[] = {{\n{kernels}    {{nullptr, 0, nullptr}},\n}};\n"
        f"extern const cpu::Symbol cpu_symbols[] = {{\n{symbols}    {{nullptr, nullptr, 0}},\n}};\n"
    )


def _dynamic_shared(text: str) -> str:
    """Return the definition of all extern shared arrays: labels of one thread-local place, as in CUDA."""
    names = list(dict.fromkeys(_EXTERN_SHARED.findall(text)))
    if not names:
        return 'extern "C" unsigned char *cpu_dynamic_shared() { return nullptr; }\n'
    labels = "".join(f"    .globl {n}\\n .type {n}, @object\\n{n}:\\n" for n in [*names, "cpu_dynamic"])
    return (
        f'asm(".pushsection .tbss,\\"awT\\",@nobits\\n .balign 128\\n{labels}'
        f' .zero {DYNAMIC_BYTES}\\n .popsection\\n");\n'
        "extern thread_local unsigned char cpu_dynamic[];\n"
        'extern "C" unsigned char *cpu_dynamic_shared() { return cpu_dynamic; }\n'
    )
