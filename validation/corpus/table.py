"""What the corpus holds, and that all of it compiles.

``python -m validation.corpus.table`` writes ``docs/validation/corpus.md`` and compiles every program for
every target it supports (two processes; ``--no-compile`` leaves that out), printing the counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from warpwatt.frontend import toolchain
from warpwatt.lab.measure.corpus import BOUNDS, DWARFS, SPLITS, Corpus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warpwatt.lab.measure.corpus import CorpusProgram

PAGE = ROOT / "docs" / "validation" / "corpus.md"
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")

HEAD = """\
# The corpus

Written by `python -m validation.corpus.table`; do not edit. Every program is our own CUDA under `corpus/`,
with sizes and a NumPy reference, so that measurements and accuracy can be published with it. Families
(all variants of one algorithm) stand on one side of the split: nothing is ever fitted to a program whose
family is in `test`. `python -m validation.corpus.check` runs all of them on the CPU against their references.
"""


def page(corpus: Corpus) -> str:
    """Return the Markdown page: counts by dwarf, split and bound, then every program."""
    parts = [HEAD, "## Programs by dwarf, split and bound\n", _counts(corpus)]
    for dwarf in DWARFS:
        programs = [p for p in corpus if p.dwarf == dwarf]
        if programs:
            rows = (
                (f"`{p.name}`", p.family, p.split, p.bound, str(len(p.sizes)), p.summary) for p in programs
            )
            header = ("program", "family", "split", "bound", "sizes", "summary")
            parts += [f"## {dwarf[0].upper()}{dwarf[1:]}\n", _table(header, rows)]
    return "\n".join(parts)


def _counts(corpus: Corpus) -> str:
    rows = [_count_row(dwarf, [p for p in corpus if p.dwarf == dwarf]) for dwarf in DWARFS]
    header = ("dwarf", "programs", "families", *SPLITS, *BOUNDS)
    return _table(header, [*rows, _count_row("all", list(corpus))])


def _count_row(title: str, programs: list[CorpusProgram]) -> tuple[str, ...]:
    splits, bounds = Counter(p.split for p in programs), Counter(p.bound for p in programs)
    families = {p.family for p in programs}
    numbers = [len(programs), len(families), *(splits[s] for s in SPLITS), *(bounds[b] for b in BOUNDS)]
    return title, *(str(number) for number in numbers)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(header), *(tuple(row) for row in rows)]
    rule = "|".join("---" for _ in lines[0])
    texts = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([texts[0], f"|{rule}|", *texts[1:], ""])


def compile_errors(job: tuple[Path, str]) -> str:
    """Compile a source for one target with nvcc; return the compiler's complaint, empty if there is none."""
    source, target = job
    nvcc = toolchain.installed().require("nvcc")
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(nvcc), "-cubin", f"-arch={target}", "-Werror", "all-warnings", str(source)]
        done = subprocess.run(
            [*command, "-o", f"{scratch}/out.cubin"],
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin"},
            check=False,
        )
    return (done.stderr or done.stdout).strip() if done.returncode else ""


def compile_all(corpus: Corpus) -> bool:
    """Compile every program for its targets; print the counts and all complaints."""
    jobs = [(p.source, t) for p in corpus for t in TARGETS if _capability(t) >= _capability(p.least_target)]
    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(compile_errors, jobs))
    for (source, target), error in zip(jobs, errors, strict=True):
        if error:
            print(f"{source.name} for {target}:\n{error}")
    for target in TARGETS:
        mine = [error for (_, t), error in zip(jobs, errors, strict=True) if t == target]
        print(f"{target}: {mine.count('')} / {len(mine)} compiled")
    return not any(errors)


def _capability(target: str) -> int:
    return int(target.removeprefix("sm_"))


def main(arguments: list[str] | None = None) -> int:
    """Write the page, compile everything; return 1 if a compilation failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--folder", type=Path, default=ROOT / "corpus")
    options = parser.parse_args(arguments)
    corpus = Corpus.load(options.folder)
    PAGE.write_text(page(corpus), encoding="utf-8")
    print(f"{len(corpus)} programs in {len({p.family for p in corpus})} families: {PAGE.relative_to(ROOT)}")
    return 0 if options.no_compile or compile_all(corpus) else 1


if __name__ == "__main__":
    sys.exit(main())
