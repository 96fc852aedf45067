"""Resios (2011) as commands: what is typed, what it says, what the thesis says.

Run ``python -m validation.commands.c_loops`` from the repository root. Writes
``docs/validation/c_loops.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from validation import ROOT
from validation.commands.table import CommandLine, Row, compared, page
from validation.resios.programs import PROGRAMS, SIZES
from warpwatt.published.resios import equations as eq

PAGE = ROOT / "docs" / "validation" / "c_loops.md"
TITLE = "Sequential C on the command line"
TEXT = """\
Written by `python -m validation.commands.c_loops`: every row is a command as a user types it, what it says
and what the thesis of Resios (2011) says. Programs are ours, after the thesis' descriptions, on its GTX 460;
it gives almost no sizes and no measured times, so the ratios of C9 cannot be recomputed. C2's formulas, which
`port` applies to every access, are printed by the validation script (`resios.md`). C10 is its future work:
a sum of a million numbers on an H200, written in every way that `port` knows, each predicted."""

DOT = """float dot(int n, const float *a, const float *b) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
"""
SCRIPT = "python -m validation.resios.prognosis"


def rows(line: CommandLine) -> Iterator[Row]:
    """Yield the rows, in the order of the thesis."""
    commands = {name: _command(line, name) for name in PROGRAMS}
    found = {name: line.json(command)["ports"][0] for name, command in commands.items()}
    nests = {name: one["nests"][0] for name, one in found.items()}
    yield from _overheads(commands["memcpy"], found["memcpy"])
    yield compared("C2", SCRIPT, "(4.5) madd, 12 warps, cycles", eq.compute_delay(22, 16, 11, 12), 2.167)
    yield from _metrics(commands, nests)
    yield from _shared_memory(commands["convolution"], nests["convolution"])
    yield from _blocks(commands, nests)
    yield from _policies(line, commands["convolution"], found["convolution"])
    yield from _report(line, commands, nests)
    madd, mul = (nests[name]["prognosis"]["seconds"] for name in ("madd", "mul"))
    yield Row("C9", f"{commands['madd']}, {commands['mul']}", "time of madd over mul's", f"{madd / mul:.2f}",
              "2.12 / 0.93 × measured")  # fmt: skip
    yield from _reductions(line)


def _command(line: CommandLine, name: str) -> str:
    file = line.file(f"{name}.c", PROGRAMS[name])
    given = " ".join(f"--arg {key}={value}" for key, value in SIZES[name].items())
    return f"warpwatt port {file} {given} --gpu 'GTX 460' --model resios --no-run"


def _overheads(command: str, found: dict[str, Any]) -> Iterator[Row]:
    costs = found["resios"]
    yield compared("C1", command, "ms of the context", 1e3 * costs["context"]["value"], 65)
    yield compared("C1", command, "µs of a launch", 1e6 * costs["launches"]["value"], 4)
    yield Row(
        "C1", command, "(4.2): ms of the copies, 4 MB each way", f"{1e3 * costs['copies']['value']:.3g}"
    )


def _metrics(commands: dict[str, str], nests: dict[str, Any]) -> Iterator[Row]:
    yield compared("C3", commands["mul"], "ILP of mul (7.1)", nests["mul"]["prognosis"]["ilp"], 1)
    what = "arithmetic intensity of transpose"
    yield Row(
        "C3", commands["transpose"], what, f"{nests['transpose']['prognosis']['arithmetic_intensity']:g}"
    )


def _shared_memory(command: str, nest: dict[str, Any]) -> Iterator[Row]:
    chosen = {one["array"]: one["size"] for one in nest["prognosis"]["shared"]}
    text = ", ".join(f"{name} {size} B" for name, size in chosen.items())
    yield Row("C4", command, "in shared memory, convolution", text, "whole filter, part of in_image")


def _blocks(commands: dict[str, str], nests: dict[str, Any]) -> Iterator[Row]:
    yield compared("C5", commands["mul"], "threads of mul's block (7.1)", nests["mul"]["block"][0], 160)
    for name in ("transpose", "convolution"):
        block = nests[name]["block"]
        yield Row("C5", commands[name], f"block of {name}", f"({block[0]}, {block[1]})", "(32, 32)", "0")


def _policies(line: CommandLine, command: str, found: dict[str, Any]) -> Iterator[Row]:
    usual = found["nests"][0]["prognosis"]["seconds"]
    for policy in ("oldest-first", "latest-first", "shortest-first"):
        asked = f"{command} --policy {policy}"
        seconds = line.json(asked)["ports"][0]["nests"][0]["prognosis"]["seconds"]
        yield Row("C6", asked, "time over that of warps in turn", f"{seconds / usual:.3f}")


def _report(line: CommandLine, commands: dict[str, str], nests: dict[str, Any]) -> Iterator[Row]:
    accesses = nests["memcpy"]["prognosis"]["accesses"]
    shares = ", ".join(f"{one['array']} {one['delay_share']:.0%}" for one in accesses)
    yield Row("C7", commands["memcpy"], "hot spots of memcpy", shares, "its two accesses")
    shares = ", ".join(
        f"{one['array']} {one['delay_share']:.0%}" for one in nests["transpose"]["prognosis"]["accesses"]
    )
    yield Row("C7", commands["transpose"], "hot spots of transpose", shares, "odata costlier than idata")
    timed = f"{commands['memcpy']} --sequential-ms 1"
    one = line.json(timed)["ports"][0]
    yield Row("C7", timed, "speed-up of a call, copies included", f"{one['resios']['speedup']['warm']:.2f}")
    yield Row("C7", timed, "verdict", one["verdict"])
    loops = " × ".join(one["variable"] for one in nests["transpose"]["loops"])
    yield Row("C8", commands["transpose"], "loops on threads", loops, "two dimensions")


def _reductions(line: CommandLine) -> Iterator[Row]:
    command = f"warpwatt port {line.file('dot.c', DOT)} --arg n=1048576 --gpu h200 --assume-no-alias --no-run"
    for one in line.json(command)["ports"][0]["nests"][0]["alternatives"]:
        yield Row("C10", command, one["name"], f"{1e6 * one['seconds']:.3g} µs", "left open")


def main() -> None:
    """Write the page."""
    with TemporaryDirectory() as folder:
        text = page(TITLE, TEXT, list(rows(CommandLine(Path(folder)))))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
