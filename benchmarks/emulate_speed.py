"""Print how fast the emulator's engines run kernels on one core, and what compiling them costs.

``python -m benchmarks.emulate_speed`` runs matrix multiplications, reductions and stencils of the corpus, by
their PTX for sm_90, on the NumPy interpreter one warp (32 lanes) at a time, on the same with 512 warps in one
step, and on the native engine. Wanted of the native engine: 80 times the plain interpreter, twice the batched
one, compiled in under 0.5 s. Times are the process's own (one thread), the best of a few repeats.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from tests.emulate import reference

from warpwatt.emulate import native
from warpwatt.emulate.context import load_launch
from warpwatt.emulate.lift import lift
from warpwatt.emulate.memory import DeviceMemory
from warpwatt.emulate.native.engine import run_time
from warpwatt.emulate.native.llvm import compile_text, load
from warpwatt.emulate.native.routine_text import RoutineText
from warpwatt.emulate.run import Limits
from warpwatt.frontend.load import load as load_kernels
from warpwatt.lab.measure.corpus import Corpus, buffers
from warpwatt.lab.measure.inputs import make_inputs
from warpwatt.program.binding import bind
from warpwatt.storage.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from warpwatt.emulate.ir import Routine
    from warpwatt.emulate.run import Context, Run

CORPUS = Path(__file__).parents[1] / "corpus"
PROGRAMS = (
    "matmul_naive", "matmul_tiled", "matmul_register", "reduction_sequential", "reduction_shuffle",
    "stencil_2d_5pt", "stencil_2d_5pt_shared", "stencil_3d_7pt",
)  # fmt: skip
PLAIN_INSTRUCTIONS, BATCHED_INSTRUCTIONS, NATIVE_INSTRUCTIONS = 3_000, 60_000, 2_000_000
"""Warp instructions after which each engine is stopped."""


@dataclass(frozen=True)
class Case:
    """One launch of a program."""

    name: str
    routine: Routine
    context: Context
    memory: DeviceMemory

    def rate(self, run: Callable[..., Run], budget: int, repeats: int, **options: object) -> float:
        """Return warp instructions per second, the best of some repeats."""
        blocks = range(self.context.launch.grid.count)
        best = 0.0
        for _ in range(repeats):
            start = time.process_time()
            done = run(self.routine, self.context, self.memory, blocks, Limits(budget), **options)
            best = max(best, int(done.executions.sum()) / (time.process_time() - start))
        return best


def case(corpus: Corpus, name: str) -> Case:
    """Return the first launch of a corpus program's second size, inputs on the device."""
    program = corpus.program(name)
    size = program.sizes[1].name
    inputs = make_inputs(program, size)
    one = program.size(size).launches[0]
    kernels = {k.demangled.partition("(")[0].split(" ")[-1]: k for k in load_kernels(program.source, "sm_90")}
    code = kernels[one.kernel].ptx
    assert code is not None
    memory = DeviceMemory()
    addresses = {n: memory.place(n, np.asarray(inputs[n])) for n, _ in buffers(program.size(size))}
    context, _ = load_launch(
        bind(code, one.launch),
        memory=memory,
        addresses={parameter: addresses[n] for parameter, n in one.buffers.items()},
        arrays={parameter: inputs[n] for parameter, n in one.buffers.items()},
    )
    return Case(name, lift(code), context, memory)


def compile_seconds(routine: Routine) -> tuple[int, float, float]:
    """Return the operations of a routine, and how long it takes to compile it and to load it again."""
    operations = sum(len(block.operations) for block in routine.blocks)
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        with patch("warpwatt.emulate.native.llvm.default_cache", lambda: cache):
            times = []
            for _ in range(2):
                start = time.process_time()
                load([compile_text(RoutineText(routine, record=False).text)], run_time())
                times.append(time.process_time() - start)
    return operations, times[0], times[1]


def main() -> None:
    """Print one row per program."""
    corpus = Corpus.load(CORPUS)
    print(
        f"{'program':24}{'plain':>9}{'batched':>9}{'native':>9}   Mwarp/s{'/plain':>8}{'/batched':>9}", end=""
    )
    print(f"{'operations':>12}{'compile':>9}{'reload':>9}  s")
    for name in PROGRAMS:
        found = case(corpus, name)
        plain = found.rate(reference.run, PLAIN_INSTRUCTIONS, 2)
        batched = found.rate(reference.run, BATCHED_INSTRUCTIONS, 2, warps_at_once=512)
        fast = found.rate(native.run, NATIVE_INSTRUCTIONS, 4)
        rates = "".join(f"{rate / 1e6:9.3f}" for rate in (plain, batched, fast))
        operations, compiled, loaded = compile_seconds(found.routine)
        print(f"{name:24}{rates}          {fast / plain:8.0f}{fast / batched:9.1f}", end="")
        print(f"{operations:12}{compiled:9.3f}{loaded:9.3f}", flush=True)


if __name__ == "__main__":
    main()
