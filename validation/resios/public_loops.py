"""Loops of public C codes, as their files have them: ported or refused, equal to the C, predicted.

    python -m validation.resios.public_loops ROOT [--only NAME ...]

``ROOT`` holds checkouts called ``darknet`` (github.com/pjreddie/darknet), ``llama2.c``
(github.com/karpathy/llama2.c), ``llm.c`` (github.com/karpathy/llm.c) and ``gpu-rodinia``
(github.com/yuhc/gpu-rodinia). Which functions, at which sizes: ``public_loops.toml``. Writes
``docs/validation/public_loops.md``.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from validation.resios.polybench import agreement, plain_seconds
from warpwatt.compose import Choice
from warpwatt.core.errors import WarpWattError
from warpwatt.core.units import si
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.source import read_source
from warpwatt.gpus import find
from warpwatt.published.resios.port import Port, Request, check, port

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "public_loops.md"
TABLE = Path(__file__).with_suffix(".toml")
GPU = find("h200")
HEAD = """# Sequential C to CUDA: loops of public codes

Written by `python -m validation.resios.public_loops` on {date} at commit {commit}; do not edit. Functions of
darknet, llama2.c, llm.c and Rodinia's OpenMP programs, their files untouched, at the sizes of
`validation/resios/public_loops.toml`, predicted for the {gpu}. Pointers are taken not to alias. Times are
kernels and launches with the data on the GPU, *plain* the same kernels with one thread per iteration and the
thesis' block. *Equal* runs the emitted program, host function included, on the emulator and compares every
element of every array with what the compiled C leaves in it: at small sizes, and at others where the program
takes them; with sums in the source's order, and as taken for the large sizes. Nothing was fitted to these
programs, and none of these predictions was compared with a measurement.

"""
COLUMNS = (
    "code | function | kernels | launches | equal, source order | equal, as taken | ours | plain | ratio"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One function: what became of it, or the refusal."""

    code: str
    name: str
    refusal: str = ""
    cells: tuple[str, ...] = ()


def rows(folder: Path, only: Sequence[str] = ()) -> Iterator[Row]:
    """Yield every function of the table, or those whose names are asked for."""
    for one in tomllib.loads(TABLE.read_text(encoding="utf-8"))["loop"]:
        if not only or one["function"] in only:
            code = one["file"].split("/")[0]
            try:
                yield Row(code, one["function"], cells=_ported(folder, one))
            except WarpWattError as error:
                where = f"line {error.line}: " if error.line else ""
                yield Row(code, one["function"], f"{where}{error.message}" + _hint(error))


def _hint(error: WarpWattError) -> str:
    return f" — {error.hint}" if error.hint else ""


def _ported(folder: Path, one: Mapping[str, Any]) -> tuple[str, ...]:
    source = read_source(folder / one["file"])
    include = tuple(str(folder / each) for each in one.get("include", ()))
    options = CompileOptions(include=include)
    small = _request(one, "small", options)
    nothing = Choice(time="resios")
    exact = port(source, GPU, replace(small, reorder=False, take=("",)), choice=nothing)
    same = agreement(check(source, exact, options))
    large = port(source, GPU, _request(one, "large", options))
    names = tuple(next((a.name for a in n.alternatives if a.taken), "") for n in large.nests)
    taken = port(source, GPU, replace(small, take=names), choice=nothing)
    return _cells(large, same, agreement(check(source, taken, options)))


def _cells(large: Port, exact: str, taken: str) -> tuple[str, ...]:
    assert large.model is not None
    ours, launches = large.model.resident.value, sum(nest.launches for nest in large.nests)
    try:
        plain = plain_seconds(large)
    except StopIteration:  # the plain kernel does so much in a thread that nobody predicts it
        return str(len(large.nests)), str(launches), exact, taken, si(ours, "s"), "not predicted", ""
    times = si(ours, "s"), si(plain, "s"), f"{ours / plain:.2f}"
    return str(len(large.nests)), str(launches), exact, taken, *times


def _request(one: Mapping[str, Any], size: str, options: CompileOptions) -> Request:
    """Return the request at a size; a list is an array's extents."""
    given = {**one.get("both", {}), **one.get(size, {})}
    shapes = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    values = {name: value for name, value in given.items() if not isinstance(value, list)}
    return Request(values, shapes, one["function"], options, assume_no_alias=True, run=False)


def page(found: Sequence[Row]) -> str:
    """Return the page."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    date = datetime.datetime.now(tz=datetime.UTC).date()
    ported = [one for one in found if one.cells]
    exact = sum(one.cells[2] == "to the last bit" for one in ported)
    summary = (
        f"{len(ported)} of {len(found)} functions ported, {exact} of them equal to the last bit in the "
        "source's order; library functions of the GPU and of the C library differ in the last bits.\n"
    )
    lines = [
        summary,
        f"| {COLUMNS} |",
        f"|{'---|' * (COLUMNS.count('|') + 1)}",
        *(f"| {one.code} | {one.name} | {' | '.join(one.cells)} |" for one in ported),
        "\n## Refused: what it prints\n",
        "| code | function | refusal |",
        "|---|---|---|",
        *(f"| {one.code} | {one.name} | {one.refusal} |" for one in found if not one.cells),
    ]
    return HEAD.format(date=date, commit=commit, gpu=GPU.name) + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or print some rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    found = []
    for one in rows(asked.root, asked.only):
        found.append(one)
        print(" | ".join([one.code, one.name, one.refusal, *one.cells]), flush=True)
        if not asked.only:
            PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
