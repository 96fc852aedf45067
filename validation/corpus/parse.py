"""Compile public CUDA code and read every kernel of it, to see whether the parser knows what it meets.

Usage: ``python -m validation.corpus.parse FOLDER... [--targets sm_75,sm_90] [--jobs 2] [-o FILE.md]``

Every ``.cu`` file under the folders is compiled with the compiler of the installed wheels. Each level in
:data:`LEVELS` then reads what came out; a level that is added there gets its own row in the table.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tests.isa.ptx.printer import print_module

from warpwatt.core.errors import WarpWattError
from warpwatt.isa import ptx, sass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warpwatt.core.program import Program

RESULT = Path(__file__).parents[2] / "docs" / "validation" / "parse_corpus.md"
_SHARED_FOLDERS = ("Common", "common", "inc", "include", "util", "utils")
"""Names under which suites keep headers that several programs share."""
_HEAD = """\
# Reading public CUDA code

Made by `{command}` on {day}, commit {commit}, {build}.

Protocol: every `.cu` file of the suite is compiled with `-lineinfo -std=c++17` (with `-rdc=true` and a
device link if it does not compile without). PTX is parsed, printed and parsed again, which must give the
same module, and every kernel is lowered with the device functions it calls. SASS is disassembled and joined
with control codes and source lines; no register may lie beyond those the kernel declares. An instruction is
unknown if the opcode table of its level lacks it. Failures are anything that raises, and any difference
after printing.

| suite | level | target | files | compiled | kernels | functions | instructions | unknown | failures |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|
"""
_COMPILE_SECONDS = 180


@dataclass
class Findings:
    """What one file, or many added up, gave."""

    files: int = 0
    compiled: int = 0
    kernels: int = 0
    functions: int = 0
    instructions: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    """Why the compiler refused, by kind of message."""

    def __iadd__(self, other: Findings) -> Findings:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


def read_ptx(path: Path) -> Findings:
    """Parse, print and parse again one PTX file and lower every kernel in it."""
    found = Findings()
    try:
        module = ptx.parse(path.read_text(encoding="utf-8", errors="replace"), str(path))
        if ptx.parse(print_module(module)) != module:
            found.failures["printed text reads differently"] += 1
        for entry in ptx.entries(module):
            _count(ptx.lower(module, entry), found)
    except WarpWattError as error:
        found.failures[error.message] += 1
    except Exception as error:  # noqa: BLE001 - an escaping exception is what this script looks for
        found.failures[f"escaped: {error!r}"] += 1
    return found


def _count(program: Program, found: Findings) -> None:
    """Add a kernel and the functions it calls."""
    found.kernels += 1
    found.functions += len(program.functions)
    for part in (program, *program.functions.values()):
        found.instructions += len(part.instructions)
        found.unknown.update(i.opcode for i in part.instructions if not i.known)


def read_sass(path: Path) -> Findings:
    """Read one cubin: every kernel with the functions behind it, its registers within what it declares."""
    found = Findings()
    try:
        cubin = sass.read_cubin(path.read_bytes())
        command = [str(compiler().with_name("nvdisasm")), "-json", str(path)]
        listing = subprocess.run(command, capture_output=True, check=True, timeout=120).stdout
        programs = sass.programs(cubin, listing)
        for kernel in cubin.kernels:
            _count(programs[kernel.name], found)
            if _highest_register(programs[kernel.name]) >= kernel.resources.registers:
                found.failures["a register beyond those the kernel declares"] += 1
    except WarpWattError as error:
        found.failures[error.message] += 1
    except Exception as error:  # noqa: BLE001 - an escaping exception is what this script looks for
        found.failures[f"escaped: {error!r}"] += 1
    return found


def _highest_register(program: Program) -> int:
    """Return the largest number of a general register in a kernel and its functions; -1 without any."""
    parts = (program, *program.functions.values())
    names = (r for p in parts for i in p.instructions for r in (*i.writes, *i.reads))
    return max((int(r[1:]) for r in names if r[0] == "R" and r[1:].isdigit()), default=-1)


LEVELS: dict[str, tuple[str, Callable[[Path], Findings]]] = {
    "ptx": ("-ptx", read_ptx),
    "sass": ("-cubin", read_sass),
}
"""Level to the compiler's flag and the function that reads its output."""


def compiler() -> Path:
    """Return nvcc of the installed wheels."""
    spec = find_spec("nvidia.cu13")
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        nvcc = Path(place) / "bin" / "nvcc"
        if nvcc.exists():
            return nvcc
    sys.exit("no compiler: pip install nvidia-cuda-nvcc")


def include_folders(source: Path, root: Path) -> list[Path]:
    """Return the folders whose headers a file of the suite under ``root`` probably needs."""
    parents = [p for p in source.parents if p == root or root in p.parents] + list(root.parents)[:2]
    near = [folder for parent in parents for folder in (parent, *(parent / n for n in _SHARED_FOLDERS))]
    return [folder for folder in near if folder.is_dir()]


def check(job: tuple[Path, Path], target: str, level: str) -> Findings:
    """Compile one file for one target and read the result."""
    source, root = job
    flag, read = LEVELS[level]
    includes = [f"-I{folder}" for folder in include_folders(source, root)]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / f"out{flag.replace('-', '.')}"
        command = [str(compiler()), flag, f"-arch={target}", "-lineinfo", "-std=c++17", "-w"]
        message = _run([*command, *includes, "-o", str(output), str(source)], folder)
        if message:  # dynamic parallelism and device linking need relocatable code
            message = _run([*command, "-rdc=true", *includes, "-o", str(output), str(source)], folder)
            if not message and flag == "-cubin":
                _device_link(output, target, folder)
        if message:
            return Findings(files=1, refusals=Counter([message]))
        found = read(output)
    found.files = found.compiled = 1
    return found


def _device_link(cubin: Path, target: str, folder: str) -> None:
    """Link relocatable code with the device runtime where nothing else is missing, as nvcc would."""
    linker = compiler().with_name("nvlink")
    linked = cubin.with_suffix(".linked")
    runtime = ["-L", str(linker.parents[1] / "lib"), "-lcudadevrt"]
    _run([str(linker), f"-arch={target}", str(cubin), *runtime, "-o", str(linked)], folder)
    if linked.exists():
        linked.replace(cubin)


def _run(command: Sequence[str], folder: str) -> str:
    """Run the compiler; return why it refused, in general terms, or an empty string."""
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=_COMPILE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"took more than {_COMPILE_SECONDS} s"
    if result.returncode == 0:
        return ""
    errors = result.stderr + result.stdout
    if "No such file" in errors or "cannot open source file" in errors:
        return "a header is missing (a library, or one that the program's build generates)"
    if "texture" in errors or "cudaThread" in errors or "undefined" in errors or "no member" in errors:
        return "uses an API that the compiler's toolkit no longer has, or that another file defines"
    return "other compiler error"


def _today() -> datetime.date:
    """Return the date in UTC."""
    return datetime.datetime.now(tz=datetime.UTC).date()


def current_commit() -> str:
    """Return the short hash of the code that runs."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    folder = Path(__file__).parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.stdout.strip() or "unknown"


def report(rows: dict[tuple[str, str, str], Findings], command: str, commit: str) -> str:
    """Return the page: protocol, table, and whatever is not zero in it."""
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    build = version.strip().splitlines()[-1]
    lines = [_HEAD.rstrip().format(command=command, day=_today(), commit=commit, build=build)]
    for key, f in rows.items():
        numbers = (f.files, f.compiled, f.kernels, f.functions, f.instructions)
        cells = (*key, *numbers, f.unknown.total(), f.failures.total())
        lines.append(f"| {' | '.join(map(str, cells))} |")
    total = Findings()
    for found in rows.values():
        total += found
    for title, counts in (
        ("Unknown opcodes", total.unknown),
        ("Failures", total.failures),
        ("Why files did not compile", total.refusals),
    ):
        if counts:
            lines += ["", f"{title}:", "", *(f"- {n} × {text}" for text, n in counts.most_common(20))]
    return "\n".join(lines) + "\n"


def main(folders: Sequence[Path], targets: Sequence[str], jobs: int, output: Path) -> int:
    """Check every file under ``folders``; print and write the report; return 1 if anything failed."""
    commit = current_commit()  # now, for a run takes minutes and the tree may move on
    rows: dict[tuple[str, str, str], Findings] = {}
    for folder in folders:
        sources = [(path, folder) for path in sorted(folder.resolve().rglob("*.cu"))]
        for level in LEVELS:
            for target in targets:
                row = rows.setdefault((f"{folder.parent.name}/{folder.name}", level, target), Findings())
                with ThreadPoolExecutor(jobs) as pool:
                    for found in pool.map(partial(check, target=target, level=level), sources):
                        row += found
    names = " ".join(f"{folder.parent.name}/{folder.name}" for folder in folders)
    page = report(rows, f"python -m validation.corpus.parse {names} --targets {','.join(targets)}", commit)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    print(page)
    return int(any(row.failures for row in rows.values()))


def _arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--targets", default="sm_90", help="architectures, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    resolved = [folder.resolve() for folder in given.folders]
    sys.exit(main(resolved, given.targets.split(","), given.jobs, given.output))
