"""The C function as it is, compiled and run on this machine: its time, and what it computes."""

from __future__ import annotations

import platform
import re
import shlex
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpwatt.core.errors import CompileError, ToolchainError
from warpwatt.frontend.process import run
from warpwatt.published.resios.c_loops.objects import (
    driver_argument,
    driver_objects,
    driver_results,
    number,
)  # fmt: skip
from warpwatt.published.resios.c_loops.preprocess import compiler

if TYPE_CHECKING:
    from warpwatt.frontend.compiled import Source
    from warpwatt.frontend.options import CompileOptions
    from warpwatt.published.resios.c_loops.bound import BoundFunction
    from warpwatt.published.resios.c_loops.nest import Array

FLAGS = ("-std=gnu99", "-O2", "-w")
LINKING = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-lm")
"""What the function does not need is dropped, so that files of larger programs link alone."""
TIMEOUT_SECONDS = 60.0
LEAST_SECONDS, FEWEST_CALLS, MOST_CALLS = 0.2, 5, 100_000
"""Calls are repeated for so long, within these numbers; the median counts, after a first call to warm up."""

_DRIVER = """\
{include}
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double warpwatt_now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}}
static void warpwatt_bytes(void *p, size_t n, FILE *f, int out) {{
    if ((out ? fwrite(p, 1, n, f) : fread(p, 1, n, f)) != n) exit(3);
}}
int main(int argc, char **argv) {{
    unsigned long long seed = 1;
    int status = 0;
    FILE *in = argc > 1 ? fopen(argv[1], "rb") : 0, *out = argc > 2 ? fopen(argv[2], "wb") : 0;
{before}{arrays}{scalars}{objects}    double total = 0;
    for (int turn = 0; turn < (out ? 1 : {most}) && (turn < {fewest} || total < {least}); turn++) {{
        double start = warpwatt_now();
        {call};
        double took = warpwatt_now() - start;
        total += took;
        printf("%.9g\\n", took);
        if (total > 20) break;
    }}
{results}{outputs}    return status;
}}
"""
_C_FILE = """\
#define _GNU_SOURCE
#define main warpwatt_users_main
#include "{file}"
#undef main\
"""
_ARRAY = """\
    {type} *warpwatt_{name} = ({type} *){memory};
    if (!warpwatt_{name}) return 2;
    if (in) warpwatt_bytes(warpwatt_{name}, {bytes}, in, 0);
    else for (size_t i = 0; i < {count}; i++) {{
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        warpwatt_{name}[i] = ({type})({value});
    }}
"""


@dataclass(frozen=True, slots=True)
class Sequential:
    """How long one call takes: the median, and 10 % and 90 % of the calls below ``low`` and ``high``.

    ``seconds`` is None where ``note`` says why nobody knows. ``machine`` is the processor's name, empty where
    the time was given; ``repeats`` the calls measured.
    """

    seconds: float | None
    note: str
    low: float | None = None
    high: float | None = None
    repeats: int = 0
    machine: str = ""


def processor() -> str:
    """Return the name of this machine's processor."""
    information = Path("/proc/cpuinfo")
    names = (
        re.findall(r"^model name\s*: (.*)$", information.read_text(), re.MULTILINE)
        if information.exists()
        else []
    )
    return names[0] if names else platform.processor() or platform.machine()


@dataclass(frozen=True, slots=True)
class Program:
    """A C function with its sizes, ready to be compiled; ``flags`` come after the usual ones."""

    source: Source
    bound: BoundFunction
    options: CompileOptions
    flags: tuple[str, ...] = ()

    def timed(self) -> Sequential:
        """Return how long one call takes: the median of several, or why nobody knows."""
        cc = compiler()
        if cc is None:
            return Sequential(None, "unknown: no C compiler here")
        try:
            text = self._timed(cc).decode()
        except (CompileError, ToolchainError) as error:
            return Sequential(None, f"unknown: {error.message}")
        calls = sorted(map(float, text.split()[1:] or text.split()))
        low, middle, high = (calls[round(share * (len(calls) - 1))] for share in (0.1, 0.5, 0.9))
        note = f"measured here, one core, {Path(cc).name} {shlex.join(FLAGS[1:2])}"
        return Sequential(middle, note, low, high, len(calls), processor())

    def computed(self, contents: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return what every array holds after one call that began with ``contents``.

        Raises
        ------
        ToolchainError
            If there is no C compiler, or the program fails.
        CompileError
            If the compiler refuses it.
        """
        cc = compiler()
        if cc is None:
            raise ToolchainError("no C compiler", hint="install cc, gcc or clang")
        with tempfile.TemporaryDirectory() as folder:
            program = self._compiled(cc, Path(folder))
            return exchanged(self.bound, contents, Path(folder), lambda files: _run(program, *files))

    def _timed(self, cc: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            return _run(self._compiled(cc, Path(folder)))

    def _compiled(self, cc: str, folder: Path) -> Path:
        file = folder / "users.c"
        file.write_bytes(self.source.data)
        path = self.source.path.resolve() if self.source.path is not None else file
        driver, program = folder / "driver.c", folder / "program"
        driver.write_text(_c_driver(self.bound, str(path)), encoding="utf-8")
        command = [
            cc, *FLAGS, *self.flags, *(f"-D{define}" for define in self.options.defines),
            f"-I{self.source.folder}", *(f"-I{include}" for include in self.options.include),
            str(driver), "-o", str(program), *LINKING,
        ]  # fmt: skip
        outcome = run(command)
        if outcome.status:
            details = outcome.messages.strip()
            raise CompileError("the C compiler refuses it", file=self.source.name, details=details)
        return program


def exchanged(
    bound: BoundFunction,
    contents: Mapping[str, bytes],
    folder: Path,
    run_with: Callable[[tuple[Path, Path]], object],
) -> dict[str, bytes]:
    """Return what every array holds after a driver has run that is given two files: before and after."""
    before, after = folder / "before", folder / "after"
    before.write_bytes(b"".join(contents[a.name] for a in own_arrays(bound)))
    run_with((before, after))
    data, found, place = after.read_bytes(), {}, 0
    for array in own_arrays(bound):
        size = bound.nbytes(array.name)
        found[array.name] = data[place : place + size]
        place += size
    return found


def _run(program: Path, *arguments: Path) -> bytes:
    outcome = run([program, *arguments], timeout=TIMEOUT_SECONDS)
    if outcome.status:
        raise ToolchainError(f"the compiled C fails at these sizes (status {outcome.status})")
    return outcome.stdout


def own_arrays(bound: BoundFunction) -> tuple[Array, ...]:
    """Return the arrays that the caller of the function sees."""
    return tuple(a for a in bound.function.arrays if not a.temporary)


def _c_driver(bound: BoundFunction, file: str) -> str:
    """Return a C program that includes a file and calls its function."""
    function = bound.function
    members = {m.name for o in function.objects for m in o.members}
    result = f"warpwatt_{function.returned}[0] = " if function.returned else ""
    call = f"{result}{function.name}({', '.join(_argument(bound, name) for name in function.order)})"
    own = {a.name: f"(void *)&{a.name}" for a in function.arrays if _global(bound, a)}
    scalars = "".join(
        f"    {s.name} = {number(bound.values[s.name])};\n"
        for s in function.scalars
        if not s.parameter and s.name not in members
    )
    return driver_text(bound, _C_FILE.format(file=file), call, own, scalars=scalars)


def driver_text(
    bound: BoundFunction,
    include: str,
    call: str,
    memory: Mapping[str, str],
    before: str = "",
    scalars: str = "",
) -> str:
    """Return a program in C and C++ that makes arrays, calls a function, and times it or writes the arrays.

    ``memory`` is where arrays lie that malloc does not make; ``before`` comes first in its main function.
    """
    return _DRIVER.format(
        include=include,
        before=before,
        arrays="".join(_array(bound, array, memory) for array in own_arrays(bound)),
        scalars=scalars,
        objects=driver_objects(bound),
        results=driver_results(bound),
        call=call,
        least=LEAST_SECONDS,
        fewest=FEWEST_CALLS,
        most=MOST_CALLS,
        outputs="".join(
            f"    if (out) warpwatt_bytes(warpwatt_{a.name}, {bound.nbytes(a.name)}, out, 1);\n"
            for a in own_arrays(bound)
        ),
    )


def _array(bound: BoundFunction, array: Array, memory: Mapping[str, str]) -> str:
    """Return C that makes an array and fills it: reals in [0, 1), integers in [0, 8)."""
    size = bound.nbytes(array.name)
    value = "(seed >> 40) / 16777216.0" if array.type.floating else "seed >> 61"
    return _ARRAY.format(
        name=array.name,
        type=array.type.spelling,
        bytes=size,
        count=size // array.type.size,
        memory=memory.get(array.name, f"malloc({size})"),
        value=value,
    )


def _global(bound: BoundFunction, array: Array) -> bool:
    """Whether an array is the file's own: neither a parameter, nor part of one, nor what is returned."""
    members = {m.name for o in bound.function.objects for m in o.members}
    return not array.parameter and array.name not in {*members, bound.function.returned}


def _argument(bound: BoundFunction, name: str) -> str:
    objects = {one.name: one for one in bound.function.objects}
    if name in objects:
        return driver_argument(objects[name])
    arrays = {array.name for array in bound.function.arrays}
    return f"(void *)warpwatt_{name}" if name in arrays else number(bound.values[name])
