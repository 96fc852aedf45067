"""The machine code of every microbenchmark on every target: classes × targets verified.

``python -m validation.measuring.microbench_check`` compiles all generated kernels for sm_75 to sm_120, reads
their loops back from the disassembly, prints what is not as meant and writes
docs/validation/microbenchmarks.md.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

from warpwatt.frontend import toolchain
from warpwatt.lab.measure.microbench.machine_code import TARGETS, Verdict, check_probes
from warpwatt.lab.measure.microbench.suite import probes

PAGE = Path(__file__).parents[2] / "docs" / "validation" / "microbenchmarks.md"
VERIFIED, FAILED, ABSENT = "yes", "**no**", "–"

HEAD = """# Microbenchmarks in machine code

Written by `python -m validation.measuring.microbench_check`; ptxas {version}. A cell says whether the loop of
the kernel, compiled for that target and disassembled, holds exactly the instructions meant: each opcode as
often as the loop was unrolled, no more other instructions than stated in the probe, and the dependences
meant (as many chains as the ILP, each instruction depending on the one before it, over two passes
through the loop). Instruction classes stand for three kernels, ILP 1 to 3. `{absent}`: the target has no
such instruction, or the compiler expands it. Instructions that ptxas puts between tensor instructions to
space them, which never execute (`@!UPT UIADD3 URZ`), are counted neither as meant nor as other.

**{good} of {all} kernels × targets verified; {classes} classes × {targets} targets: {cells} cells, \
{good_cells} verified.**
"""


def main() -> int:
    """Check everything; return 1 if anything is not as meant."""
    verdicts: list[Verdict] = []
    for target in TARGETS:
        start = time.perf_counter()
        found = check_probes(probes(), target)
        good = sum(not one.problems for one in found)
        print(f"{target:7} {good} / {len(found)} verified, {time.perf_counter() - start:.1f} s")
        for one in found:
            for problem in one.problems:
                print(f"        {one.probe.name}: {problem}")
        verdicts += found
    text = page(verdicts)
    PAGE.write_text(text, encoding="utf-8")
    print(next(line for line in text.splitlines() if line.startswith("**")).strip("*"))
    return 1 if any(one.problems for one in verdicts) else 0


def page(verdicts: list[Verdict]) -> str:
    """Return the page: a table of classes and targets."""
    cells: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for one in verdicts:
        cells[class_of(one), one.target].append(one)
    names = list(dict.fromkeys(class_of(one) for one in verdicts))
    good_cells = sum(not any(one.problems for one in found) for found in cells.values())
    lines = [
        HEAD.format(
            version=toolchain.installed().version,
            absent=ABSENT,
            good=sum(not one.problems for one in verdicts),
            all=len(verdicts),
            classes=len(names),
            targets=len(TARGETS),
            cells=len(cells),
            good_cells=good_cells,
        ),
        f"| group | class | {' | '.join(TARGETS)} | others, at most | instructions on the newest target |",
        f"|---|---|{'---|' * len(TARGETS)}---|---|",
    ]
    for name in names:
        found = [cells.get((name, target), []) for target in TARGETS]
        newest = next(group for group in reversed(found) if group)
        most = max(one.overhead for group in found for one in group)
        shown = ", ".join(sorted(_meant(newest[0]))) or "none"
        marks = " | ".join(_mark(group) for group in found)
        lines.append(f"| {newest[0].probe.group} | `{name}` | {marks} | {most} | {shown} |")
    return "\n".join(lines) + "\n"


def class_of(one: Verdict) -> str:
    """Return the name of a kernel without its ILP."""
    return one.probe.name.partition("_ilp")[0]


def _meant(one: Verdict) -> list[str]:
    expected = one.probe.expected_on(int(one.target.removeprefix("sm_")))
    patterns = expected.opcodes if expected is not None else ()
    return (
        [f"{count} {opcode}" for opcode, count in one.counts.items() if count >= min(one.probe.steps, 8)]
        if patterns
        else []
    )


def _mark(group: list[Verdict]) -> str:
    if not group:
        return ABSENT
    return FAILED if any(one.problems for one in group) else VERIFIED


if __name__ == "__main__":
    sys.exit(main())
