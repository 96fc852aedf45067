"""The time models on the microbenchmarks that some of their parameters come from.

Run ``python -m validation.timing.microbench --data FOLDER`` from the repository root (default
``../shared/data``). Writes ``docs/validation/time_microbench.md``.
"""

from __future__ import annotations

import argparse
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.timing.cases import compare
from validation.timing.microbench_runs import NAME, SAMPLES, SEED, SHORTEST_SECONDS, runs
from validation.timing.page import grouped, programs, rows_left_out, stamp, table

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from validation.timing.cases import Compared

PAGE = ROOT / "docs" / "validation" / "time_microbench.md"
PROTOCOL = """\
Written by `python -m validation.timing.microbench` on {date} at commit {commit}; do not edit.

**Development data**: load latencies, how they grow with load, block dispatch, launch overheads and bandwidths
of V100, A100, A40, L40, H100 and H200 come from these very files (github.com/te42kyfo/gpu-benches, commit
1c36d50). The page shows whether the models reproduce what they were given; it predicts nothing unseen.

Our own kernels of the benchmark's shape; samples (seed {seed}) of {samples} rows per GPU.

- *stream ...*: six kernels over 2^27 doubles, two resident blocks of 32 to 1024 threads per SM.
- *L2 bandwidth*: 200 000 blocks read pieces of 512 kB, of which there are more or fewer.
- *L1 bandwidth*: one block of 256 threads per SM reads the same floats again and again.
- *latency*: one warp follows a random chain of links, 64 bytes apart. The measured chain holds addresses,
  ours holds indices: the multiplication adds about 5 cycles per link.
- *small kernels*: scaling of 4096 doubles and more, kernel after kernel in a stream or graph; the launch
  overhead that the package states is taken off, and what is then shorter than {shortest:.0f} µs is left out.

Clocks are the nominal boost clocks. Columns and baselines are those of time_models.md."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--dump", type=Path, help="also pickle every comparison there")
    options = parser.parse_args(list(arguments))
    found, left_out = runs(options.data)
    compared = compare(found)
    if options.dump:
        options.dump.write_bytes(pickle.dumps(compared))
    text = page(compared, left_out)
    PAGE.write_text(text)
    print(text)


def page(compared: Sequence[Compared], left_out: Counter[str]) -> str:
    """Return the page."""
    samples = ", ".join(f"{count} ({kind})" for kind, count in SAMPLES.items())
    protocol = PROTOCOL.format(**stamp(), seed=SEED, samples=samples, shortest=SHORTEST_SECONDS * 1e6)
    parts = [
        "# Time models on microbenchmarks",
        protocol,
        "## Rows left out",
        rows_left_out({NAME: left_out}),
    ]
    for name, group in grouped(compared, _kind).items():
        parts += [f"## {name}", table(group, "GPU", lambda c: c.measured.gpu)]
    for model in ("pipeline", "roofline"):
        parts += [f"## Kernel by kernel: {model}", programs(compared, model)]
    return "\n\n".join(parts) + "\n"


def _kind(compared: Compared) -> str:
    """Return the kind of microbenchmark: the streams are taken together."""
    program = compared.measured.program
    return "Streams" if program.startswith("stream") else program[0].upper() + program[1:]


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
