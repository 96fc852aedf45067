"""Predict every launch of the corpus: which fail, how long a prediction takes, what had to be assumed.

Accuracy needs measurements (``data/measured``); this says whether predictions are to be had at all, and for
how many launches control flow or addresses depend on data.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter

from validation import ROOT
from warpwatt.compose import predict
from warpwatt.core.errors import WarpWattError
from warpwatt.core.program import Level
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find
from warpwatt.lab.measure.corpus import Corpus

PTX_ONLY = CompileOptions(levels=frozenset({Level.PTX}))


def main(gpu_name: str = "h200") -> int:
    """Predict everything on one GPU and print the counts; return 1 if a prediction failed."""
    gpu = find(gpu_name)
    seconds: dict[str, float] = {}
    failures: list[str] = []
    bottlenecks: Counter[str] = Counter()
    assumed: Counter[str] = Counter()
    for program in Corpus.load(ROOT / "corpus"):
        for size in program.sizes:
            for launch in program.size(size.name).launches:
                try:
                    kernel = load_kernel(program.source, gpu.target, PTX_ONLY, launch.kernel)
                    start = time.perf_counter()
                    result = predict(kernel, launch.launch, gpu)
                    seconds[f"{program.name} {size.name} {launch.kernel}"] = time.perf_counter() - start
                except WarpWattError as error:
                    failures.append(f"{program.name} {size.name} {launch.kernel}: {error}")
                    continue
                bottlenecks[result.timing.bottleneck] += 1
                kinds = {
                    a.parameter.split(" at ")[0].split(":")[0] for a in result.assumptions if a.spread > 0
                }
                assumed.update(kinds or {"nothing"})
    print("\n".join(failures))
    print(f"{len(seconds)} launches predicted on {gpu.name}, {len(failures)} failed")
    print(f"library call: median {statistics.median(seconds.values()) * 1e3:.1f} ms; slowest:")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:8]:
        print(f"  {seconds[name] * 1e3:8.0f} ms  {name}")
    print("limited by: " + ", ".join(f"{name} {count}" for name, count in bottlenecks.most_common()))
    print("assumed: " + ", ".join(f"{name} {count}" for name, count in assumed.most_common()))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
