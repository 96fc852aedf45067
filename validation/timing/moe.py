"""Times of a fused mixture-of-experts kernel on A100 and H800 beside predictions from its own file.

``python -m validation.timing.moe FUSED_MOE.py FOLDER CONFIGS [-o PAGE.md]``: FUSED_MOE.py is SGLang's
(``python/sglang/srt/layers/moe/fused_moe_triton/fused_moe.py``, version 0.4.9) as it comes, FOLDER holds
``moe_{A100,H800}_development.csv`` of zksainx/pipeweave (55e0317, Apache-2.0), CONFIGS is vLLM's folder of
published configurations. Predictions are kept in ``build/moe.jsonl``; delete it to predict again.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import process_time
from typing import Any

import warpwatt
from validation import ROOT
from warpwatt.choose.mixture import FUNCTION, SPACE, Experts, fitting, launch, products
from warpwatt.choose.odds import probability_smaller
from warpwatt.choose.rank import CONFIDENCE
from warpwatt.choose.rough import rough_product_seconds, rough_seconds
from warpwatt.choose.tuned import combinations
from warpwatt.choose.tuning import search
from warpwatt.core.errors import InputError, WarpWattError
from warpwatt.core.estimate import Estimate
from warpwatt.gpus import find
from warpwatt.request.python_file import function

HEAD = """\
# A mixture of experts in Triton

Written by `python -m validation.timing.moe` on {date}, predictions of commit {commit}; do not edit.

**{summary}**

The kernel is SGLang's (and vLLM's) fused mixture of experts, from its own file as it comes, in bf16, its
first product (gate and up). Measured are the near-best rows of searches (zksainx/pipeweave, 55e0317): of
{shapes} shapes a board, every ninth in order of tokens, experts and widths, its fastest row. Tokens are
dealt to experts in turn, L2 is warm, the grid is what the project launches. Boards: the 80 GB A100
(weight-bound rows read up to 1.9 TB/s) and the H800 SXM (3.2 TB/s). Constants that were chosen while looking
at rows of these boards: how far apart blocks start (0.5 of a turn, three rows of the H800), from which work
on a block counts as idle (a tenth). These faults were found with them:

- blocks for which there is no work, as the router's arrays are made for the worst case, counted as
  working ones (A100, 64 tokens, 60 experts: 644 µs, then 432; measured 414), and did so still where they
  do over a fiftieth of the work of others (H800, 48 tokens, 128 experts: 1240 µs, then 1108; measured 1010);
  a last round of working blocks that was not full counted as full.
- blocks sampled at equal distances all lay in one row of tiles, so that the weights seemed to fit L2
  (H800, 128 tokens, 16 experts: 18 µs, then 33; measured 37).
- products that nobody looks at were computed by the emulator (256 x 128 tiles: 21.5 s of CPU, then 2.5).
- rows of blocks of one expert were not seen to share its weights, as no offset tells it (A100, 1536 tokens,
  64 experts: 4609 µs, then 2191; measured 2639).
- few sampled blocks said that all weights fit L2 where a row of blocks alone touches more (A100, 3072
  tokens, 128 experts: 2460 µs, then 3073; measured 3066).
- two blocks of an SM that start together were simulated in step to the end, and left DRAM idle while both
  began (H800, 16 tokens, 64 experts: 588 µs, then 518; measured 507).
- utilisations of long unequal blocks were those of one wave, and what they bound was not.
- the A100's DRAM was taken from a benchmark that reads less than others of the same board (1776 GB/s; 1867).

One shape has no prediction: its weights have over 2^31 elements, and this version of the kernel computes
their offsets in 32 bits (`copy of 16 bytes at byte -2512388096 of buffer b_ptr ... (out of bounds)`).

*Held*: the measurement lies within the 80 % interval.
"""
BOARDS = {"A100": "a100-sxm4-80gb", "H800": "h800-sxm"}
"""Weight-bound rows read up to 1.9 and 3.2 TB/s: the boards with 2.04 and 3.35 TB/s."""
EVERY = 9
"""Of the shapes in order of tokens, experts, experts per token, widths: every ninth, its fastest row."""
RANKED, DRAWN, SEED = 144, 4, 0
"""Of the shapes every 144th is ranked: its fastest row beside so many drawn from vLLM's space."""
SHARE = 20
"""The first twentieth of the rough order counts as its head."""
PUBLISHED = {**BOARDS, "H100": "h100-sxm"}
MODELS = {
    "E=64,N=1280,device_name=NVIDIA_A100-SXM4-80GB.json": ("A100", 4096, 6, (16, 1024)),
    "E=8,N=3584,device_name=NVIDIA_H100_80GB_HBM3.json": ("H100", 4096, 2, (16, 1024)),
}
"""Published files of vLLM 0.9.0 (Apache-2.0): board, hidden width, experts per token, tokens looked at."""
TILES = {
    "A100": ((64, 256, 128, 8), (128, 256, 64, 8)),
    "H800": ((64, 256, 64, 4), (128, 256, 64, 8)),
}
"""Tiles and warps for 1,024 tokens: vLLM's in the files of :data:`MODELS`, and what ``tune`` finds there."""
BUDGET = 24
"""Predictions of a search, as ``tune`` makes by itself."""
ROUGH_WORDS = """\
`tune` sorts the whole space of vLLM's search by what bounds a step of the loop, at {micro:.0f} µs of CPU a
configuration. Where the near-best rows of the measured searches stand in it, of all shapes of both boards;
its head are the first {share} of {space} configurations. The order was made while looking at these lists and
at four choices, two of them below; no other board's were seen."""
PUBLISHED_WORDS = """\
*Loss*: how much longer the published configuration is predicted to take than the best that `tune` finds with
its {budget} predictions (below 0: the published one is better); *surely*: the probability that ours is
faster; *sure*: that ours beats the next of the {budget}; CPU seconds are those of the whole search."""
NEAR_BEST_WORDS = """\
Tiles and warps of these choices in the lists of measured searches, {least} to {most} tokens (the boards of
the files or their like; a list holds what came within about a hundredth of the best):"""
NEAR_BEST_TOKENS = (1024, 1536)
RANK_WORDS = """\
The fastest measured row of {shapes} shapes, each beside {drawn} configurations drawn from vLLM's space: these
were in the measured search and did not get into its best hundredth. Probabilities are those of `warpwatt
rank`: Brier score **{brier:.3f}** over {pairs} pairs (always one half: 0.250), {deferred:.0%} of them
deferred to a measurement, {right:.0%} of the others right."""
Row = tuple[str, Experts, float, dict[str, Any]]
KEPT = Path("build/moe.jsonl")


def listed(file: Path) -> dict[Experts, list[tuple[float, dict[str, int]]]]:
    """Return measured seconds and configuration of the rows of every shape, the fastest first."""
    rows: dict[Experts, list[tuple[float, dict[str, int]]]] = defaultdict(list)
    with file.open() as lines:
        for row in csv.DictReader(lines):
            shape = Experts(*(int(row[name]) for name in ("M", "E", "topk", "H", "N")))
            rows[shape].append((float(row["avg_duration"]) * 1e-6, {name: int(row[name]) for name in SPACE}))
    return {shape: sorted(found, key=itemgetter(0)) for shape, found in rows.items()}


def predicted(kernel: Any, gpu: str, shape: Experts, config: Mapping[str, int]) -> dict[str, Any]:
    """Return seconds, interval, what limits it, DRAM bytes, CPU seconds; ``error`` where there are none."""
    started = process_time()
    blocks, values = launch(products(shape)[0], shape, config)
    try:
        p = warpwatt.predict(kernel, gpu=gpu, grid=blocks, args=fitting(values, kernel), l2="warm")
    except WarpWattError as error:
        return {"error": str(error)}
    return {
        "time": p.time.value, "low": p.time.low, "high": p.time.high, "limit": p.timing.bottleneck,
        "dram": p.case.workload.dram.total, "cpu": process_time() - started,
        "draws": [float(f"{draw:.5g}") for draw in p.time.draws],
    }  # fmt: skip


class Predictions:
    """Predictions by board, shape and configuration, kept in a file."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.known = {}
        if KEPT.exists():
            self.known = dict(json.loads(line) for line in KEPT.read_text().splitlines())

    def of(self, board: str, shape: Experts, config: Mapping[str, int]) -> dict[str, Any]:
        """Return a prediction, from the file where it is there."""
        key = f"{board} {shape} {list(config.values())}"
        if key not in self.known:
            self.known[key] = predicted(self.kernel, PUBLISHED[board], shape, config)
            KEPT.parent.mkdir(exist_ok=True)
            with KEPT.open("a") as file:
                file.write(json.dumps([key, self.known[key]]) + "\n")
        return dict(self.known[key])


def order(shapes: Mapping[Experts, object]) -> list[Experts]:
    """Return shapes by tokens, experts, experts per token and widths."""
    return sorted(shapes, key=lambda s: (s.tokens, s.experts, s.top_k, s.hidden, s.n))


def compared(kernels: Predictions, folder: Path) -> Iterator[Row]:
    """Yield board, shape, measured seconds and prediction of the sample."""
    for board in BOARDS:
        rows = listed(folder / f"moe_{board}_development.csv")
        for shape in order(rows)[::EVERY]:
            seconds, config = rows[shape][0]
            yield board, shape, seconds, kernels.of(board, shape, config)


Pair = tuple[str, Experts, float, float]
"""Board, shape, probability that the measured best beats a drawn configuration, their predicted ratio."""


def pairs(kernels: Predictions, folder: Path) -> Iterator[Pair]:
    """Yield the measured best of some shapes beside configurations drawn from the space, if they run."""
    for board in BOARDS:
        rows = listed(folder / f"moe_{board}_development.csv")
        for number, shape in enumerate(order(rows)[EVERY::RANKED]):
            near_best = [config for _, config in rows[shape]]
            best = kernels.of(board, shape, near_best[0])
            drawn = random.Random(f"{SEED} {number}")
            for _ in range(DRAWN):
                config = {name: drawn.choice(values) for name, values in SPACE.items()}
                other = kernels.of(board, shape, config)
                if config not in near_best and "time" in best and "time" in other:
                    odds = probability_smaller(estimate(best), estimate(other))
                    yield board, shape, odds, other["time"] / best["time"]


def estimate(prediction: Mapping[str, Any]) -> Estimate:
    """Return a kept prediction's time."""
    return Estimate.from_draws(prediction["time"], prediction["draws"], "s")


def rough_places(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    """Yield board, tokens, place of the fastest row and of the best-placed near-best row in the rough order.

    Shapes none of whose rows is in vLLM's space are left out.
    """
    space = [sizes(config) for config in combinations(SPACE)]
    for board, gpu in BOARDS.items():
        for shape, rows in listed(folder / f"moe_{board}_development.csv").items():
            known = [space.index(config) for _, config in rows if config in space]
            if not known:
                continue
            product, there = products(shape)[0], find(gpu)
            seconds = [rough_product_seconds(product, config, there) for config in space]
            place = {k: p for p, k in enumerate(sorted(range(len(space)), key=seconds.__getitem__))}
            yield board, shape.tokens, place[known[0]], min(place[k] for k in known)


def sizes(config: Mapping[str, object]) -> dict[str, int]:
    """Return a configuration's numbers."""
    return {name: int(str(value)) for name, value in config.items()}


@dataclass(frozen=True, slots=True)
class Choice:
    """A published configuration beside what ``tune`` finds: place in the rough order, loss, probabilities."""

    name: str
    tokens: int
    place: int
    loss: float
    surely: float
    sure: float
    best: str
    cpu: float


def published(kernels: Predictions, folder: Path) -> Iterator[Choice]:
    """Yield how vLLM's choices do beside ours.

    Hidden width and experts per token are those of a model that has such layers (:data:`MODELS`).
    """
    space = [sizes(config) for config in combinations(SPACE)]
    for name, (board, hidden, top_k, looked_at) in MODELS.items():
        chosen = json.loads((folder / name).read_text())
        experts, n = (int(word.partition("=")[2]) for word in name.split(",")[:2])
        for tokens in looked_at:
            shape = Experts(tokens, experts, top_k, hidden, n)
            config = {key: chosen[str(tokens)][key] for key in SPACE}
            place = sorted(space, key=rough_of(shape, board)).index(config)
            ours = search(
                space, partial(time_of, kernels, board, shape), rough=rough_of(shape, board), budget=BUDGET
            )
            theirs, best = estimate(kernels.of(board, shape, config)), ours.order[0].value
            assert best is not None
            trials = (*ours.order, *ours.failed)
            cpu = sum(kernels.of(board, shape, sizes(trial.config)).get("cpu", 0.0) for trial in trials)
            loss, surely = theirs.value / best.value - 1, probability_smaller(best, theirs)
            words = "/".join(map(str, ours.order[0].config.values()))
            yield Choice(name, tokens, place, loss, surely, ours.sure, words, cpu)


def rough_of(shape: Experts, board: str) -> Callable[[Mapping[str, object]], float]:
    """Return the rough order of a shape."""
    gpu = find(PUBLISHED[board])
    return lambda config: rough_seconds(shape, sizes(config), gpu)


def time_of(
    kernels: Predictions, board: str, shape: Experts, config: Mapping[str, object]
) -> tuple[Estimate, str]:
    """Return the time of the first product, as a search wants it."""
    found = kernels.of(board, shape, sizes(config))
    if "time" not in found:
        raise InputError(found["error"])
    return estimate(found), ""


def errors(rows: Sequence[Row]) -> str:
    """Return number, mean, median, bias and share held as cells of a table."""
    signed = [p["time"] / seconds - 1 for _, _, seconds, p in rows]
    held = sum(p["low"] <= seconds <= p["high"] for _, _, seconds, p in rows)
    size = [abs(e) for e in signed]
    return (
        f"{len(rows)} | {statistics.mean(size):.1%} | {statistics.median(size):.1%} | "
        f"{statistics.mean(signed):+.1%} | {held / len(rows):.0%}"
    )


def grouped(rows: Sequence[Row], title: str, key: Callable[[Row], str]) -> Iterator[str]:
    """Yield a table of errors by what a key says of each row."""
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    yield f"| {title} | rows | mean | median | bias | held |\n|---|--:|--:|--:|--:|--:|"
    yield from (f"| {name} | {errors(group)} |" for name, group in groups.items())
    yield ""


def size(row: Row) -> str:
    """Return the board and how many tokens, in a word."""
    return f"{row[0]}, {many(row[1].tokens)}"


def many(tokens: int) -> str:
    """Return how many tokens, in a word."""
    return "1 to 16" if tokens <= 16 else "17 to 128" if tokens <= 128 else "over 128"


def shape_line(row: Row) -> str:
    """Return a row of the table of all."""
    board, s, seconds, p = row
    words = f"{s.tokens} | {s.experts} | {s.top_k} | {s.hidden} | {s.n}"
    times = f"{seconds * 1e6:.1f} | {p['time'] * 1e6:.1f} | {p['time'] / seconds - 1:+.0%}"
    return f"| {board} | {words} | {times} | {p['limit']} | {p['dram'] / 1e6:.0f} | {p['cpu']:.1f} |"


def page(kernels: Predictions, folder: Path, configs: Path) -> Iterator[str]:
    """Yield the page's parts."""
    rows = [row for row in compared(kernels, folder) if "time" in row[3]]
    boards = {board: [row for row in rows if row[0] == board] for board in BOARDS}
    said = [f"{board}: mean error {errors(some).split(' | ')[1]}" for board, some in boards.items()]
    shapes = len(listed(folder / "moe_A100_development.csv"))
    cpu = statistics.median(row[3]["cpu"] for row in rows)
    summary = f"{'; '.join(said)}; {cpu:.1f} s of CPU a prediction (median)."
    yield HEAD.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}", commit=head_commit(), summary=summary, shapes=shapes
    )
    yield from grouped(rows, "GPU", itemgetter(0))
    yield from grouped(rows, "tokens", size)
    yield from grouped(rows, "limited by", lambda row: f"{row[0]}, {row[3]['limit']}")
    yield from rough_part(folder)
    yield from published_part(kernels, configs)
    yield from near_best_part(folder)
    yield from rank_part(kernels, folder)
    yield "\n## All rows\n"
    yield (
        "| GPU | tokens | experts | per token | hidden | n | measured µs | predicted | | limited by "
        "| DRAM MB | CPU s |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|"
    )
    yield from map(shape_line, rows)


def head_commit() -> str:
    """Return the commit that predicts, empty outside a checkout."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def rough_part(folder: Path) -> Iterator[str]:
    """Yield where near-best rows stand in the rough order."""
    started, found = process_time(), list(rough_places(folder))
    space = len(combinations(SPACE))
    yield "## The order in which `tune` looks\n"
    micro = (process_time() - started) / len(found) / space * 1e6
    yield ROUGH_WORDS.format(micro=micro, share=space // SHARE, space=space)
    yield "\n| GPU | tokens | shapes | fastest in the head | any near-best in the head | its median place |"
    yield "|---|---|--:|--:|--:|--:|"
    groups = defaultdict(list)
    for board, tokens, *both in found:
        groups[board, many(tokens)].append(both)
    for (board, words), places in groups.items():
        heads = [f"{sum(p[k] < space // SHARE for p in places) / len(places):.0%}" for k in (0, 1)]
        middle = statistics.median(nearest for _, nearest in places) + 1
        yield f"| {board} | {words} | {len(places)} | {heads[0]} | {heads[1]} | {middle:.0f} |"
    yield ""


def published_part(kernels: Predictions, configs: Path) -> Iterator[str]:
    """Yield where vLLM's own choices stand."""
    yield "## vLLM's published configurations\n"
    yield PUBLISHED_WORDS.format(budget=BUDGET)
    yield "\n| file | tokens | place in the order of 1920 | loss | surely | our choice | sure | CPU s |"
    yield "|---|--:|--:|--:|--:|---|--:|--:|"
    for c in published(kernels, configs):
        file = c.name.partition(",device_name=NVIDIA_")[2].removesuffix(".json")
        layer = c.name.partition(",device_name")[0]
        yield (
            f"| {layer}, {file} | {c.tokens} | {c.place + 1} | {c.loss:.1%} | {c.surely:.0%} | {c.best} "
            f"| {c.sure:.0%} | {c.cpu:.0f} |"
        )
    yield ""


def near_best_part(folder: Path) -> Iterator[str]:
    """Yield in how many measured lists a published configuration's tiles stand, and those of our choices."""
    least, most = NEAR_BEST_TOKENS
    yield NEAR_BEST_WORDS.format(least=least, most=most)
    yield "\n| board | shapes | published | in lists | ours | in lists |\n|---|--:|---|--:|---|--:|"
    for board, (theirs, ours) in TILES.items():
        lists = listed(folder / f"moe_{board}_development.csv")
        some = [rows for shape, rows in lists.items() if least <= shape.tokens <= most]
        held = [sum(any(tile_of(c) == tile for _, c in rows) for rows in some) for tile in (theirs, ours)]
        names = ["/".join(map(str, tile)) for tile in (theirs, ours)]
        yield f"| {board} | {len(some)} | {names[0]} | {held[0]} | {names[1]} | {held[1]} |"
    yield ""


def tile_of(config: Mapping[str, int]) -> tuple[int, ...]:
    """Return the tile's sizes and the warps of a configuration."""
    return tuple(config[name] for name in ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "num_warps"))


def rank_part(kernels: Predictions, folder: Path) -> Iterator[str]:
    """Yield how sure `rank` is of the measured best, and how often it is right."""
    found = list(pairs(kernels, folder))
    odds = [pair[2] for pair in found]
    told = [p for p in odds if max(p, 1 - p) >= CONFIDENCE]
    yield "## The measured best beside others\n"
    yield RANK_WORDS.format(
        shapes=len({pair[:2] for pair in found}), drawn=DRAWN, pairs=len(odds),
        brier=statistics.mean((1 - p) ** 2 for p in odds), deferred=1 - len(told) / len(odds),
        right=sum(p > 0.5 for p in told) / max(1, len(told)),
    )  # fmt: skip
    yield "\n| GPU | tokens | experts | probabilities that it is faster |\n|---|--:|--:|---|"
    for (board, shape), group in groupby(found, key=itemgetter(0, 1)):
        said = ", ".join(f"{pair[2]:.0%}" for pair in group)
        yield f"| {board} | {shape.tokens} | {shape.experts} | {said} |"


def main() -> None:
    """Write the page, or print it."""
    parser = argparse.ArgumentParser()
    for name in ("kernel", "folder", "configs"):
        parser.add_argument(name, type=Path)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    kernels = Predictions(function(asked.kernel, FUNCTION))
    text = "\n".join(page(kernels, asked.folder, asked.configs)) + "\n"
    if asked.output:
        asked.output.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
