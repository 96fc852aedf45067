"""Count predictions of the corpus that undercut a bound: bytes, operations or instructions over their peaks.

``python -m validation.corpus.bounds --gpu h200,a100 --model pipeline,roofline --size tiny,medium`` predicts
every launch (the first of each kernel and size) and prints how many times, or low ends of intervals that
nothing assumed explains, lie below what :func:`warpwatt.models.bounds.bounds` says, how many the models
themselves put there, and how many bytes of DRAM more than every buffer once a launch that fits in L2 moves.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from validation import ROOT
from warpwatt.compose import Choice, analyse, predict
from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import WarpWattError
from warpwatt.core.prediction import Prediction
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find_many
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.models.bounds import bounds
from warpwatt.models.registry import time_model

GPUS = (
    "h200,h100,a100,v100,t4,l4,l40s,b200,p100,rtx2080ti,rtx3060,rtx3080,rtx3090,rtx4070ti,rtx4080,rtx4090,"
    "rtx5090,rtx-a4000,rtx-a6000,gtx1080ti"
)
TOLERANCE = 1e-6


def main() -> int:
    """Predict, count and print; return 1 where a bound is undercut."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gpu", default=GPUS)
    parser.add_argument("--model", default="pipeline")
    parser.add_argument("--size", default="tiny,medium")
    parser.add_argument("--every", type=int, default=1, help="take every so many programs only")
    said = parser.parse_args()
    found: Counter[str] = Counter()
    for model in said.model.split(","):
        for name, prediction in _predictions(said.gpu, model, said.size.split(","), said.every):
            found["predictions"] += 1
            for what in _undercut(prediction, model):
                found[what] += 1
                print(f"{name} {model}: {what}", flush=True)
    print(", ".join(f"{what} {count}" for what, count in found.items()))
    return 1 if any(what.startswith("below") for what in found) else 0


def _predictions(gpus: str, model: str, sizes: list[str], every: int) -> Iterator[tuple[str, Prediction]]:
    for program in list(Corpus.load(ROOT / "corpus"))[::every]:
        for size in (s for s in program.sizes if s.name in sizes):
            launches = {one.kernel: one.launch for one in reversed(program.size(size.name).launches)}
            for gpu in find_many(gpus):
                for kernel, launch in launches.items():
                    name = f"{program.name} {size.name} {kernel} {gpu.name}"
                    try:
                        loaded, choice = (
                            load_kernel(program.source, gpu.target, name=kernel),
                            Choice(time=model),
                        )
                        known = analyse(loaded, launch, choice)
                        yield name, predict(loaded, launch, gpu, choice=choice, execution=known)
                    except WarpWattError as error:
                        print(f"{name}: {error}")


def _undercut(prediction: Prediction, model: str) -> Iterator[str]:
    """Yield what is wrong with a prediction, and what the model said before it was raised."""
    case, time = prediction.case, prediction.time
    least = max(bounds(case).values()) * (1 - TOLERANCE)
    if time.value < least:
        yield "below a bound"
    if time.low < least and not any(a.spread for a in prediction.assumptions):
        yield "below a bound at the low end"
    if any(busy > 1 + TOLERANCE for busy in prediction.timing.utilisation.values()):
        yield "below the time of a busy unit"
    if time_model(model).predict(case).time.value < least:
        yield "raised"
    buffers = sum(a.nbytes for a in case.launch.arguments.values() if isinstance(a, Buffer))
    local = case.kernel.resources.local * case.launch.grid.count * case.launch.block.count
    if case.workload.dram.total > 2 * (buffers + local) + 1e5 and buffers + local < case.gpu.l2_size / 2:
        yield "more DRAM than all buffers although they fit in L2"


if __name__ == "__main__":
    raise SystemExit(main())
