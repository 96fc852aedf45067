"""Resios' system beside its thesis, its algorithms beside brute force.

Run ``python -m validation.resios.prognosis`` from the repository root. Writes ``docs/validation/resios.md``.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation import ROOT
from validation.resios import oracles
from validation.resios.programs import PROGRAMS, SIZES
from warpwatt.frontend.compiled import Source
from warpwatt.gpus import find
from warpwatt.published.resios import equations as eq
from warpwatt.published.resios.c_loops.bound import bound
from warpwatt.published.resios.c_loops.mapping import mapped
from warpwatt.published.resios.c_loops.read import read_function
from warpwatt.published.resios.prognosis import prognose
from warpwatt.published.resios.simulation import POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warpwatt.published.resios.prognosis import Prognosis

PAGE = ROOT / "docs" / "validation" / "resios.md"
GPU = "GTX 460"
HEAD = """\
# Resios: sequential C loops

Written by `python -m validation.resios.prognosis` on {date} at commit {commit}; do not edit.

The system of Resios (MSc thesis, 2011: GPU performance prediction using parametrized models): C loop
nests in, prognosis out. The thesis gives no measured times and almost no sizes, so its ratios of
predicted to measured time (Table 7.1) cannot be recomputed; its formulas' numbers and the qualitative
results of chapter 7 can. Programs are ours, after its descriptions; the GPU is its GTX 460 with the
parameters of Table 3.1 and chapter 7. The same as commands: [c_loops](c_loops.md); what `port` makes of other
people's C: [PolyBench/C](port.md), [public codes](public_loops.md).
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the thesis says, what we find, and whether that agrees."""

    what: str
    thesis: str
    ours: str
    holds: bool


def main(arguments: Sequence[str] = ()) -> None:
    """Write the page and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.parse_args(list(arguments))
    found = {name: prognosis(name) for name in PROGRAMS}
    text = page(found)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def prognosis(name: str, policy: str = "in-turn") -> Prognosis:
    """Return the prognosis of a program of chapter 7 on the thesis' GPU."""
    whole = bound(read_function(Source(f"{name}.c", PROGRAMS[name].encode())), SIZES[name])
    return prognose(whole, mapped(whole, whole.nests[0]), find(GPU), policy=policy)


def page(found: dict[str, Prognosis]) -> str:
    """Return the whole page."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    parts = [
        HEAD.format(date=datetime.datetime.now(tz=datetime.UTC).date(), commit=commit),
        "## Numbers of the formulas\n", _claims(formulas()),
        "## Chapter 7, qualitatively\n", _claims(chapter_7(found)),
        "## Prognoses\n", _prognoses(found),
        "## Scheduling policies\n",
        "Cycles of one SM under other policies of the ready queue, over those in turn.\n", _policies(found),
        "## Algorithms against brute force\n", _oracles(),
    ]  # fmt: skip
    return "\n".join(parts)


def formulas() -> list[Claim]:
    """Return the numbers of chapter 4 and of section 5.2.1."""
    madd = [eq.compute_delay(22, 16, 11, tlp) for tlp in (11, 12, 48)]
    penalty = [8 * (500 / 8 + eq.global_penalty(128, c, 64)) for c in (1, 8, 32)]
    shared = {bw: [36 + 8 * eq.shared_penalty(4, c, bw) for c in (0, 1, 16)] for bw in (32, 4)}
    micro = [eq.transfer_seconds(size) * 1e6 for size in (1e3, 43e3)]
    even, chain = eq.even_warps(1024, 7) * 32, eq.instruction_parallelism(3, 2)
    return [
        _numbers("(4.5) madd, TLP 11, 12, 48", [2.0, 13 / 6, 2 + 22 / 528], madd),
        _numbers("(4.8) 500 + 16c at c = 1, 8, 32", [516, 628, 1012], penalty),
        _numbers("(4.9) 37 + c at c = 0, 1, 16; 32 B/cycle and bank", [37, 38, 53], shared[32]),
        _numbers("(4.9) 44 + 8c at c = 0, 1, 16; 4 B/cycle and bank", [44, 52, 172], shared[4]),
        _numbers("(6.1) ILP of three instructions, two in a chain", [1.5], [chain]),
        _numbers("n_w¹ of 1024 threads on 7 SMs, in threads", [160], [even]),
        Claim("(4.2) plateau of the copy, size in kB", "1–9 µs (Figure 4.1)",
              f"{micro[0]:.2f}–{micro[1]:.2f} µs", 1 <= micro[0] <= micro[1] <= 9),
    ]  # fmt: skip


def _numbers(what: str, thesis: list[float], ours: Sequence[float]) -> Claim:
    same = all(abs(a - b) < 1e-9 * abs(a) for a, b in zip(thesis, ours, strict=True))
    return Claim(what, ", ".join(f"{x:.4g}" for x in thesis), ", ".join(f"{x:.4g}" for x in ours), same)


def chapter_7(found: dict[str, Prognosis]) -> list[Claim]:
    """Return the qualitative results."""
    mul, copy, turned, blurred = (found[n] for n in ("mul", "memcpy", "transpose", "convolution"))
    madd = found["madd"].instructions / mul.instructions
    shares = {a.array: a.delay_share for a in turned.accesses}
    held = {o.array: o for o in blurred.shared}
    hot = ", ".join(f"{a.array} {a.heat:.0%}" for a in copy.accesses)
    degrees = ", ".join(f"{n}: {o.conflicts}" for n, o in held.items())
    return [
        Claim("mul: ILP", "1", f"{mul.parallelism:.2f}", round(mul.parallelism) == 1),
        Claim("mul: block", "160, even work", f"{mul.block.count}, {mul.warps.rule}", mul.block.count == 160),
        Claim("madd: analysed instructions over mul's", "roughly two", f"{madd:.2f}", 1.8 < madd < 2.2),
        Claim("memcpy: hot spots", "its two accesses", hot, len(copy.accesses) == 2),
        Claim("transpose: block", "(32, 32)", _block(turned), _block(turned) == "(32, 32)"),
        Claim("transpose: odata costlier than idata", "yes",
              f"{shares['odata']:.0%} against {shares['idata']:.0%}", shares["odata"] > shares["idata"]),
        Claim("convolution: block", "(32, 32)", _block(blurred), _block(blurred) == "(32, 32)"),
        Claim("convolution: whole filter, part of in_image in shared memory", "yes",
              ", ".join(f"{n} {'whole' if o.whole else 'part'}, {o.size} B" for n, o in held.items()),
              held["filter"].whole and not held["in_image"].whole),
        Claim("convolution: all opportunities fit", "yes", f"{len(blurred.left_out)} left out",
              not blurred.left_out),
        Claim("convolution: bank conflicts of in_row", "none", degrees, not held["in_image"].conflicts),
        Claim("convolution: costliest access", "out_row", blurred.accesses[0].array,
              blurred.accesses[0].array == "out_image"),
    ]  # fmt: skip


def _block(found: Prognosis) -> str:
    return f"({found.block.y}, {found.block.x})"


def _claims(claims: Iterable[Claim]) -> str:
    lines = [[c.what, c.thesis, c.ours, "yes" if c.holds else "**no**"] for c in claims]
    return _table("what | thesis | ours | agrees", lines)


def _prognoses(found: dict[str, Prognosis]) -> str:
    lines = []
    for name, one in found.items():
        sizes = ", ".join(f"{k} {v}" for k, v in SIZES[name].items())
        rates = [f"{one.bandwidth / 1e9:.3g}", f"{one.flop_rate / 1e9:.3g}"]
        lines.append([name, sizes, f"{one.seconds * 1e3:.3g}", *rates, f"{one.intensity:.2f}",
                      f"{one.parallelism:.2f}", f"{one.threads_ready:.1f}", str(one.registers)])  # fmt: skip
    return _table(
        "program | sizes (ours) | kernel ms | GB/s | GFLOP/s | intensity | ILP | mean TLP | registers", lines
    )


def _policies(found: dict[str, Prognosis]) -> str:
    names = [name for name in POLICIES if name != "in-turn"]
    lines = [
        [name, *(f"{prognosis(name, policy).cycles / one.cycles:.3f}" for policy in names)]
        for name, one in found.items()
    ]
    return _table(" | ".join(["program", *names]), lines)


def _oracles() -> str:
    cases, equal, mean, worst, mean_skip, worst_skip = oracles.greedy_gaps()
    gap = f"{mean:.1%} of the reads lost on average, {worst:.0%} at worst"
    going_on = f"going on behind what does not fit: {mean_skip:.1%}, {worst_skip:.0%}"
    lines = [
        ["MIN (6.4): loads, fewest over all evictions", *map(str, oracles.min_reloads()), ""],
        ["greedy (6.2): the longest prefix by frequency/size", str(cases), str(equal), f"{gap}; {going_on}"],
        ["bank conflicts (6.1): passes served one by one", *map(str, oracles.conflicts()), ""],
        ["ILP (6.1): longest chain over all paths", *map(str, oracles.parallelism()), ""],
    ]
    return _table("algorithm and oracle | random cases | equal | against the optimum", lines)


def _table(head: str, lines: Iterable[Sequence[str]]) -> str:
    columns = head.count("|") + 1
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"| {head} |\n|{'---|' * columns}\n{body}\n"


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
