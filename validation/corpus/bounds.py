"""Count predictions of the corpus that undercut a bound: bytes, operations or instructions over their peaks.

``python -m validation.corpus.bounds --gpu h200,a100 --model pipeline,roofline --size tiny,medium`` predicts
every launch (the first of each kernel and size) and prints how many times, or low ends of intervals that
nothing assumed explains, lie below what :func:`warpwatt.models.bounds.bounds` says, how many the models
themselves put there, and how many bytes of DRAM more than every buffer once a launch that fits in L2 moves.
Programs come in a fixed random order, until ``--seconds`` have passed; ``--page`` writes
``docs/validation/bounds.md``. With ``--target sm_86`` one emulation of that machine code serves all GPUs:
other code than theirs, but bounds are as true of it, and more launches are looked at in the time.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

from validation import ROOT
from warpwatt.compose import Choice, analyse, predict
from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import WarpWattError
from warpwatt.frontend.load import load_kernel
from warpwatt.gpus import find_many
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.models.bounds import bounds
from warpwatt.models.conservation import violations
from warpwatt.models.registry import time_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.core.gpu import Gpu
    from warpwatt.core.launch import Launch
    from warpwatt.core.prediction import Prediction
    from warpwatt.lab.measure.corpus import CorpusProgram

GPUS = (
    "h200,h100,a100,v100,t4,l4,l40s,b200,p100,rtx2080ti,rtx3060,rtx3080,rtx3090,rtx4070ti,rtx4080,rtx4090,"
    "rtx5090,rtx-a4000,rtx-a6000,gtx1080ti"
)
TOLERANCE = 1e-6
PAGE = ROOT / "docs" / "validation" / "bounds.md"
HEAD = """\
# Times beside their lower bounds

Written by `python -m validation.corpus.bounds --page` on {date} at commit {commit}; do not edit.

No time may be below what the launch needs at the peaks of the data sheet: bytes of DRAM, operations of each
pipe, issue slots, the longest block. {programs} of {all} programs of the corpus ({sizes}; the first launch
of each kernel), {gpus} GPUs, model {models}, {code}.

"""
WHAT = (
    "below a bound",
    "below a bound at the low end",
    "below the time of a busy unit",
    "raised",
    "more DRAM than all buffers although they fit in L2",
    "breaks conservation",
)
MEANING = {
    "below a bound": "times below a bound (want 0)",
    "below a bound at the low end": "low ends of intervals below a bound, nothing assumed (want 0)",
    "below the time of a busy unit": "units busy for longer than the time (want 0)",
    "raised": "times that the model alone puts below a bound, raised to it",
    "breaks conservation": "bytes between levels, rates, power or widths that are not conserved (want 0)",
    "more DRAM than all buffers although they fit in L2": "over twice the buffers from DRAM, which fit in L2",
}


def main() -> int:
    """Predict, count and print; return 1 where a bound is undercut."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--gpu", default=GPUS)
    parser.add_argument("--model", default="pipeline")
    parser.add_argument("--size", default="tiny,medium")
    parser.add_argument("--target", default="", help="whose machine code is emulated for all GPUs")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no program after so long")
    parser.add_argument("--page", action="store_true")
    said = parser.parse_args()
    programs = list(Corpus.load(ROOT / "corpus"))
    random.Random(0).shuffle(programs)
    found: Counter[str] = Counter()
    done, end = 0, time.monotonic() + said.seconds
    for program in programs:
        if time.monotonic() > end:
            break
        done += 1
        for model in said.model.split(","):
            for name, prediction in _predictions(program, said, model):
                found["predictions"] += 1
                for what in _undercut(prediction, model):
                    found[what] += 1
                    print(f"{name} {model}: {what}", flush=True)
        counted = ", ".join(f"{what} {count}" for what, count in found.items())
        print(f"{done} of {len(programs)} programs: {counted}", flush=True)
    if said.page:
        PAGE.write_text(_page(found, done, len(programs), said), encoding="utf-8")
    return 1 if any(found[what] for what in WHAT[:3]) else 0


def _page(found: Counter[str], done: int, programs: int, said: argparse.Namespace) -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    gpus = len(said.gpu.split(","))
    head = HEAD.format(
        date=time.strftime("%Y-%m-%d"), commit=commit, programs=done, all=programs, gpus=gpus,
        sizes=said.size.replace(",", ", "), models=said.model.replace(",", ", "),
        code=f"machine code of {said.target} on all" if said.target else "the machine code of each",
    )  # fmt: skip
    rows = ["| | predictions |", "|---|--:|", f"| looked at | {found['predictions']} |"]
    return head + "\n".join([*rows, *(f"| {MEANING[what]} | {found[what]} |" for what in WHAT)]) + "\n"


def _predictions(
    program: CorpusProgram, said: argparse.Namespace, model: str
) -> Iterator[tuple[str, Prediction]]:
    """Yield the launches of a program on every GPU, by target: one emulation serves all."""
    by_target: dict[str, list[Gpu]] = {}
    for gpu in find_many(said.gpu):
        by_target.setdefault(said.target or gpu.target, []).append(gpu)
    for size in (s for s in program.sizes if s.name in said.size.split(",")):
        launches = {one.kernel: one.launch for one in reversed(program.size(size.name).launches)}
        for kernel, launch in launches.items():
            for target, boards in by_target.items():
                name = f"{program.name} {size.name} {kernel}"
                try:
                    for gpu, prediction in _on_each(program, kernel, launch, target, boards, model):
                        yield f"{name} {gpu.name}", prediction
                except WarpWattError as error:
                    print(f"{name} {target}: {error}")


def _on_each(
    program: CorpusProgram, kernel: str, launch: Launch, target: str, gpus: list[Gpu], model: str
) -> Iterator[tuple[Gpu, Prediction]]:
    loaded, choice = load_kernel(program.source, target, name=kernel), Choice(time=model)
    known = analyse(loaded, launch, choice)
    for gpu in gpus:
        yield gpu, predict(loaded, launch, gpu, choice=choice, execution=known)


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
    for violation in violations(case, prediction.timing, prediction.power):
        print(f"{case.kernel.demangled} on {case.gpu.name}: {violation.text}")
        yield "breaks conservation"
    buffers = sum(a.nbytes for a in case.launch.arguments.values() if isinstance(a, Buffer))
    local = case.kernel.resources.local * case.launch.grid.count * case.launch.block.count
    if case.workload.dram.total > 2 * (buffers + local) + 1e5 and buffers + local < case.gpu.l2_size / 2:
        yield "more DRAM than all buffers although they fit in L2"


if __name__ == "__main__":
    raise SystemExit(main())
