"""Predict the launches of gpuFLOPBench's programs beside their measured time, DRAM bytes and operations.

``python -m validation.run.gpuflopbench CHECKOUT JOURNAL [-k PROGRAM] [--limit SECONDS]``: programs are
compiled with ``warpwatt clang`` (or ``--compiler nvcc``) and the assembler of ``--toolkit``, run under
``warpwatt run``'s device, one at a time, and kept in JOURNAL, one JSON line each; those in it are left out.
``--page COMMIT`` writes docs/validation/programs_counters.md from it. ``--keep FOLDER`` keeps what the
measured launches do, which ``run.gpuflopbench_again`` predicts again without running anything.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation import ROOT
from validation.run.gpuflopbench_inputs import ENVIRONMENT as WANTED
from validation.run.gpuflopbench_inputs import lay_out
from validation.run.gpuflopbench_launches import WALL
from validation.run.gpuflopbench_page import page
from validation.run.gpuflopbench_programs import Program, Source, is_test, programs
from warpwatt.frontend.toolchain import installed
from warpwatt.frontend.toolkits import period
from warpwatt.run.clang import clang

PAGE = ROOT / "docs" / "validation" / "programs_counters.md"
COMPILERS = {
    "nvcc": {
        "all": ("-O3", "-std=c++17", "-gencode=arch=compute_86,code=[sm_86,compute_86]", "-lineinfo", "-w"),
        "cuda": ("-x", "cu"),
        "host": ("-Xcompiler", "-fopenmp"),
        "link": ("-lcublas", "-lcufft", "-lcurand", "-lcusparse"),
        "separate": ("-rdc=true",),
    },
    "clang": {
        "all": ("-O3", "-w"),
        "cuda": (
            "--offload-arch=sm_86",
            "-std=gnu++17",
            "-Wno-c++11-narrowing",
            "-Wno-register",
            "-x",
            "cuda",
        ),
        "host": (),
        "link": ("-Wl,--as-needed", "-lcublas", "-lcufft", "-lcurand", "-lcusparse"),
        "separate": ("-fgpu-rdc",),
    },
}
"""Flags of each compiler: always, of CUDA sources, of others and the link, of the link alone, of device code
in parts."""
BUILD_SECONDS = 600
MEASURED_TOO = {"softmax-cuda": (("100000", "784", "0", "100"),)}
"""Arguments of further runs whose launches are among the measured ones, where the data name one run's."""
ENVIRONMENT = {**os.environ, **WANTED, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
FAILED = re.compile(r"\bFAIL(ED)?\b|[Mm]ismatch|MISMATCH|\bError:|Incorrect", re.ASCII)
PASSED = re.compile(r"\bPASS(ED)?\b|[Ss]uccess", re.ASCII)


@dataclass(frozen=True, slots=True)
class Maker:
    """What compiles: ``nvcc`` or ``clang``, the toolkit whose assembler it takes, folders of headers."""

    compiler: str
    toolkit: str
    include: tuple[str, ...]

    @property
    def command(self) -> tuple[str, ...]:
        """The verb, with what comes before all flags."""
        asked = ("--toolkit", self.toolkit) if self.toolkit else ()
        return (self.compiler, *asked)

    @property
    def name(self) -> str:
        """Say what compiles, with versions."""
        toolkit = period(self.toolkit) if self.toolkit else installed()
        if self.compiler == "nvcc":
            return f"nvcc {toolkit.version}"
        said = subprocess.run([clang(), "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"version (\S+)", said)
        return f"clang {version[1] if version else '?'}, ptxas {toolkit.version}"


@dataclass(frozen=True, slots=True)
class Limits:
    """CPU seconds of a program, and of computing its kernels: past these, memory is not up to date.

    ``keep`` is where what its launches do is kept; None: nowhere.
    """

    program: float
    computing: float
    keep: Path | None = None


def build(program: Program, maker: Maker, target: Path) -> str:
    """Compile a program; return why that failed, empty if it did not."""
    compiler = maker.compiler
    flags = COMPILERS[compiler]
    headers = [f"-I{folder}" for folder in maker.include]
    separate = flags["separate"] if program.separate else ()
    with tempfile.TemporaryDirectory(prefix="warpwatt-validation-") as folder:
        objects = []
        for number, source in enumerate(program.sources):
            made = f"{folder}/{number}.o"
            language = (*flags["cuda"], *separate) if source.cuda else _language(compiler, source)
            macros = [flag for flag in source.flags if compiler == "clang" or flag != "-D__NVCC__"]
            words = [*flags["all"], *macros, *headers, *language, "-c", source.path, "-o", made]
            failed = _compile(maker, words, program.folder)
            if failed:
                return failed
            objects.append(made)
        if separate and compiler == "clang":  # which leaves the device's link to NVIDIA's tools
            made = f"{folder}/device.o"
            linker = Maker("nvcc", "", ())
            failed = _compile(linker, ["-arch=sm_86", "-dlink", *objects, "-o", made], program.folder)
            if failed:
                return failed
            objects.append(made)
        link = [*flags["all"], *flags["host"], *separate, *objects, "-o", str(target), *flags["link"]]
        return _compile(maker, link, program.folder)


def _language(compiler: str, source: Source) -> tuple[str, ...]:
    is_c = compiler == "clang" and source.path.endswith(".c") and "-x" not in source.flags
    return ("-x", "c") if is_c else ()


def _compile(maker: Maker, words: list[str], cwd: Path) -> str:
    command = [sys.executable, "-m", "warpwatt", *maker.command, *words]
    try:
        done = subprocess.run(
            command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, errors="replace",
            check=False, timeout=BUILD_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{maker.compiler} takes more than {BUILD_SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = (done.stderr + done.stdout).splitlines()
    errors = [line for line in lines if re.search(r"error|undefined|No such|cannot find", line)]
    return (errors or lines or ["?"])[0].strip()[:200]


def run(program: Program, target: Path, limits: Limits) -> dict[str, Any]:
    """Run a program with its arguments; return what :func:`run_once` does, of several runs together."""
    found = run_once(program, program.arguments, target, limits)
    for arguments in MEASURED_TOO.get(program.name, ()):
        again = run_once(program, arguments, target, limits)
        sums = ("launches", "clean", "computing", "predicting", "warp_instructions", "seen")
        found |= {name: found[name] + again[name] for name in sums if name in found and name in again}
    return found


def run_once(program: Program, arguments: Sequence[str], target: Path, limits: Limits) -> dict[str, Any]:
    """Run a program; return what the child says, and what the program's output says of its own check."""
    with tempfile.TemporaryDirectory(prefix="warpwatt-validation-") as folder:
        wanted = Path(folder) / "wanted.json"
        counts = {kernel: len(rows) for kernel, rows in program.kernels.items()}
        runs = (program.arguments, *MEASURED_TOO.get(program.name, ()))
        number = runs.index(tuple(arguments))
        keep = str(limits.keep.resolve() / f"{program.name}.{number}") if limits.keep else ""
        wanted.write_text(json.dumps({"counts": counts, "keep": keep}), encoding="utf-8")
        child = [sys.executable, "-m", "validation.run.gpuflopbench_launches"]
        command = [*child, str(limits.program), str(limits.computing), str(wanted), str(target), *arguments]
        said = Path(folder) / "said"
        with (
            said.open("w") as stderr,
            subprocess.Popen(
                command, cwd=program.folder, stdout=subprocess.PIPE, stderr=stderr, env=ENVIRONMENT, text=True
            ) as process,
        ):
            try:
                output, _ = process.communicate(timeout=2 * WALL * limits.program)
            except subprocess.TimeoutExpired:
                process.kill()
                return {"note": "no end"}
        text = said.read_text(encoding="utf-8", errors="replace")
    if process.returncode:
        return {"note": (text.splitlines() or ["?"])[-1][:300]}
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    found["check"] = "failed" if FAILED.search(text) else "passed" if PASSED.search(text) else ""
    if not is_test(program.name):
        found["said"] = text[-1500:]
    return found


def unpack(checkout: Path) -> None:
    """Unpack the archives of inputs that programs come with, beside them."""
    for archive in sorted(checkout.glob("src/*/*.tar.gz")):
        mark = archive.with_suffix(".unpacked")
        if not mark.exists():
            with tarfile.open(archive) as file:
                file.extractall(archive.parent, filter="data")
            mark.touch()


def outcome(program: Program, maker: Maker, target: Path, limits: Limits) -> dict[str, Any]:
    """Build, unless that is done, and run a program."""
    begun = time.monotonic()
    if not program.sources:
        return {"program": program.name, "builds": False, "note": "no compile command"}
    failed = "" if target.exists() else build(program, maker, target)
    if failed:
        return {"program": program.name, "builds": False, "note": failed}
    built = time.monotonic() - begun
    found = run(program, target, limits)
    return {
        "program": program.name,
        "builds": True,
        "compiler": maker.name,
        "limit": limits.program,
        "budget": limits.computing,
        "build_seconds": built,
        "wall": time.monotonic() - begun,
        **found,
    }


def known(journal: Path) -> dict[str, dict[str, Any]]:
    """Return what the journal has of each program; the last line counts."""
    if not journal.exists():
        return {}
    lines = journal.read_text(encoding="utf-8").splitlines()
    return {entry["program"]: entry for entry in map(json.loads, lines)}


def main() -> None:
    """Run what the journal lacks, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("-k", dest="part", action="append", default=[], help="only this program")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of each program")
    parser.add_argument("--budget", type=float, help="of them for computing kernels; half if not given")
    parser.add_argument("--compiler", choices=COMPILERS, default="clang")
    parser.add_argument("--toolkit", default="", help="whose assembler, such as 12.6")
    parser.add_argument("--include", action="append", default=[], help="folder of further headers")
    parser.add_argument("--again", action="store_true", help="also programs that the journal has")
    parser.add_argument("--keep", type=Path, help="folder for what the measured launches do")
    parser.add_argument("--page", metavar="COMMIT", help="write the page from the journal of this commit")
    parser.add_argument("--before", type=Path, help="journal of an earlier state, for the page")
    given = parser.parse_args()
    ours = programs(given.checkout.resolve())
    if given.page:
        before = known(given.before) if given.before else {}
        PAGE.write_text(page(ours, known(given.journal), before, given.page), encoding="utf-8")
        return
    unpack(given.checkout)
    builds = given.journal.with_suffix(".builds").resolve()
    builds.mkdir(exist_ok=True)
    maker = Maker(given.compiler, given.toolkit, tuple(given.include))
    limits = Limits(given.limit, given.limit / 2 if given.budget is None else given.budget, given.keep)
    done = {} if given.again else known(given.journal)
    for program in ours:
        if program.name in done or (given.part and program.name not in given.part):
            continue
        lay_out(given.checkout / "src", program.name)
        entry = outcome(program, maker, builds / program.name, limits)
        with given.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        _say(entry)


def _say(entry: dict[str, Any]) -> None:
    if is_test(entry["program"]):
        print(f"{entry['program']}: test", flush=True)
        return
    built = "built" if entry["builds"] else "NOT BUILT"
    parts = [built, f"{len(entry.get('seen', ()))} rows", f"status {entry.get('status')}"]
    parts += [
        str(entry[name]) for name in ("check", "note", "reason", "given_up", "unsupported") if entry.get(name)
    ]
    print(f"{entry['program']}: {'; '.join(parts)}; {entry.get('wall', 0):.0f} s", flush=True)


if __name__ == "__main__":
    main()
