"""PolyBench/C as it comes: to CUDA that computes the same, beside public CUDA of the same programs.

    python -m validation.resios.polybench CHECKOUT [PUBLIC_CUDA] [--only NAME ...]

``CHECKOUT`` is PolyBench/C 4.2.1, ``PUBLIC_CUDA`` the folder ``CUDA`` of PolyBench-GPU. Every program is
ported at its large data set; the same kernels, written the same way, are emulated at the mini data set and
compared with the compiled C, once with sums in the order of the source and once as taken.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from validation.resios.public_cuda import public_seconds
from warpwatt.compose import Choice
from warpwatt.core.errors import WarpWattError
from warpwatt.core.units import si
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find
from warpwatt.models.overhead import launch_overhead
from warpwatt.published.resios.c_loops import read_function
from warpwatt.published.resios.port import Request, check, port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpwatt.published.resios.port import Agreement, Port

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "port.md"
GPU = find("h200")
SMALL, LARGE = "MINI_DATASET", "LARGE_DATASET"
HEAD = """# Sequential C to CUDA: PolyBench/C

Written by `python -m validation.resios.polybench` on {date} at commit {commit}; do not edit. Every file of
PolyBench/C 4.2.1 as it comes, `double` as its default, at its large data set, predicted for the {gpu}.
Times are kernels and launches with the data on the GPU. *Public* is PolyBench-GPU's CUDA of the same
computation, in `double` and at the same sizes, predicted by the same model (its LU, covariance, correlation
and rank updates compute the full square; its kernels are launched with the blocks of its host code, LU's
grids enlarged to cover the matrix); where it has none, or another algorithm, the same kernels written
plainly: one thread per iteration, the thesis' block. *Equal* runs the emitted program, host function
included, on the emulator and compares every element of every array with the compiled C: at the mini data
set, and at other sizes where the program takes them; in the source's order of sums, and as the kernels were
written for the large one. Gramschmidt is compared at 40 × 20: the mini matrix, 20 × 30, has fewer rows than
columns, so that its last columns are normalised rounding errors, which any other order of sums changes
altogether. Nothing was fitted to these programs, and none of these predictions was compared with a
measurement.

"""
COMPARED_AT = {"gramschmidt": ("M=40", "N=20")}
"""Definitions beside the mini data set's, by program."""
COLUMNS = (
    "program | kernels | launches | equal, source order | equal, as taken | ours | public or plain | ratio"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One program: what became of it, or why nothing did; seconds of ours and of who stands beside it."""

    name: str
    outcome: str
    launches: int = 0
    exact: str = ""
    taken: str = ""
    ours: float = 0.0
    other: float = 0.0
    public: bool = False

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        if not self.ours:
            return [self.name, self.outcome, *[""] * 6]
        other = f"{si(self.other, 's')} ({'public' if self.public else 'plain'})"
        times = [si(self.ours, "s"), other, f"{self.ours / self.other:.2f}"]
        return [self.name, self.outcome, str(self.launches), self.exact, self.taken, *times]


def rows(folder: Path, cuda: Path | None, only: Sequence[str] = ()) -> Iterator[Row]:
    """Yield every program of a checkout."""
    for path in sorted(folder.glob("*/**/*.c")):
        if "utilities" not in path.parts and "." not in path.stem and (not only or path.stem in only):
            try:
                yield row(path, folder, cuda)
            except WarpWattError as error:
                yield Row(path.stem, f"line {error.line}: {error.message}" if error.line else error.message)


def row(path: Path, folder: Path, cuda: Path | None) -> Row:
    """Return one program's row."""
    source = read_source(path)
    large = port(source, GPU, _request(path, folder, LARGE))
    assert large.model is not None
    names = tuple(next((a.name for a in n.alternatives if a.taken), "") for n in large.nests)
    small = replace(_request(path, folder, *small_size(path)), take=names)
    nothing = Choice(time="resios")
    options = _options(folder, *small_size(path))
    plain = check(
        source, port(source, GPU, replace(small, reorder=False, take=("",)), choice=nothing), options
    )
    taken = check(source, port(source, GPU, small, choice=nothing), options)
    public = _public(path, folder, cuda)
    return Row(
        path.stem,
        str(len(large.nests)),
        sum(nest.launches for nest in large.nests),
        agreement(plain),
        agreement(taken),
        large.model.resident.value,
        plain_seconds(large) if public is None else public,
        public is not None,
    )


def _public(path: Path, folder: Path, cuda: Path | None) -> float | None:
    """Return the seconds of the public CUDA, None where there is none or it is too long to predict."""
    if cuda is None:
        return None
    try:
        return public_seconds(path.stem, cuda, sizes(path, folder, LARGE), GPU)
    except WarpWattError as error:
        print(f"{path.stem}: the public CUDA is not predicted: {error.message}", flush=True)
        return None


def plain_seconds(ported: Port) -> float:
    """Return the seconds of the kernels written plainly: the way that is predicted first."""
    total = 0.0
    for nest in ported.nests:
        assert nest.predicted is not None
        each = {a.name: a.seconds for a in nest.alternatives}
        first = next(seconds for name, seconds in each.items() if name == nest.plain)
        taken = next(a.seconds for a in nest.alternatives if a.taken)
        total += nest.predicted.value * first / taken + nest.launches * launch_overhead(GPU).value
    return total


def agreement(found: Sequence[Agreement]) -> str:
    """Return how arrays compare: to the last bit, or within how much of the largest value, and which."""
    if all(one.exact for one in found):
        return "to the last bit"
    worst = max(found, key=lambda one: one.relative)
    return f"within {worst.relative:.1g} ({worst.array})"


def small_size(path: Path) -> tuple[str, ...]:
    """Return the definitions at which a program is compared with its C."""
    return (SMALL, *COMPARED_AT.get(path.stem, ()))


def _options(folder: Path, *size: str) -> CompileOptions:
    return CompileOptions(include=(str(folder / "utilities"),), defines=size)


def _request(path: Path, folder: Path, *size: str) -> Request:
    options = _options(folder, *size)
    function = read_function(read_source(path), "kernel_", options)
    known = sizes(path, folder, *size)
    values = {s.name: 1.25 if s.type.floating else known[s.name] for s in function.scalars}
    return Request(values, function="kernel_", options=options, assume_no_alias=True, run=False)


def sizes(path: Path, folder: Path, *size: str) -> dict[str, int]:
    """Return the sizes of a data set by the names of the parameters, as the program's header defines them."""
    command = [
        "cc",
        "-E",
        "-dM",
        f"-I{folder / 'utilities'}",
        *(f"-D{one}" for one in size),
        "-include",
        str(path.with_suffix(".h")),
    ]
    text = subprocess.run(
        [*command, "-x", "c", "/dev/null"], capture_output=True, text=True, check=True
    ).stdout
    return {m[1].lower(): int(m[2]) for m in re.finditer(r"#define ([A-Z]\w*) (\d+)\n", text)}


def page(found: Sequence[Row]) -> str:
    """Return the page."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    head = HEAD.format(date=datetime.datetime.now(tz=datetime.UTC).date(), commit=commit, gpu=GPU.name)
    ported = [one for one in found if one.ours]
    exact = sum(one.exact == "to the last bit" for one in ported)
    slow = sum(one.ours > 2 * one.other for one in ported)
    summary = (
        f"{len(ported)} of {len(found)} programs ported, {exact} of them equal to the last bit in the "
        f"source's order of sums; {slow} slower than twice what stands beside it.\n\n"
    )
    lines = [f"| {COLUMNS} |", f"|{'---|' * (COLUMNS.count('|') + 1)}"]
    lines += ["| " + " | ".join(one.cells()) + " |" for one in found]
    return head + summary + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or print some rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("public_cuda", type=Path, nargs="?")
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    found = []
    for one in rows(asked.checkout, asked.public_cuda, asked.only):
        found.append(one)
        print(" | ".join(one.cells()), flush=True)
        if not asked.only:
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
