"""Run programs of the corpus on the CPU and compare them with their references.

``python -m validation.corpus.check [NAME...]`` runs the named programs, or those of a dwarf's folder, or
all, in their tiny size with three orders of threads, and prints every mismatch. Needs g++.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.corpus.on_cpu import CpuError, compiler, run

from warpwatt.core.errors import WarpWattError
from warpwatt.lab.measure.comparison import find_mismatches, run_reference
from warpwatt.lab.measure.corpus import Corpus, CorpusProgram
from warpwatt.lab.measure.inputs import make_inputs

FOLDER = Path(__file__).parents[2] / "corpus"
ORDERS = (0, 1, 7)
"""Forward, backward and one shuffle of the threads of each block."""


def check(program: CorpusProgram, size: str = "tiny", orders: tuple[int, ...] = ORDERS) -> list[str]:
    """Return what is wrong with a program, one line each; nothing if it is right."""
    try:
        inputs = make_inputs(program, size)
        for order in orders:
            wanted = run_reference(program, size, inputs)
            wrong = find_mismatches(program, size, inputs, wanted, run(program, size, inputs, order))
            if wrong:
                return [f"{mismatch} (thread order {order})" for mismatch in wrong]
    except (WarpWattError, CpuError) as error:
        return [str(error)]
    except subprocess.TimeoutExpired:
        return ["did not end in time"]
    return []


def main(arguments: list[str] | None = None) -> int:
    """Check the programs named on the command line; return 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs or folders of dwarfs; default all")
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    if compiler() is None:
        print("corpus_check needs g++", file=sys.stderr)
        return 3
    corpus = Corpus.load(options.folder)
    wanted = set(options.names)
    chosen = [p for p in corpus if not wanted or {p.name, p.source.parent.name} & wanted]
    if missing := wanted - {name for p in chosen for name in (p.name, p.source.parent.name)}:
        print(f"no such program: {' '.join(sorted(missing))}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda program: _timed(program, options.size), chosen))
    for program, (problems, seconds) in zip(chosen, results, strict=True):
        print(f"{'FAILED' if problems else 'ok':6} {seconds:6.1f} s  {program.name}")
        for problem in problems:
            print(f"       {problem}")
    passed = sum(not problems for problems, _ in results)
    print(f"{passed} / {len(chosen)} passed")
    return 0 if passed == len(chosen) else 1


def _timed(program: CorpusProgram, size: str) -> tuple[list[str], float]:
    start = time.perf_counter()
    return check(program, size), time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
