"""Published choices of a Triton kernel beside our ranking: where we rank what a search on the GPU chose.

The choices: SGLang (Apache-2.0, github.com/sgl-project/sglang), folder ``python/sglang/srt/layers/
quantization/configs``, files of the A100 and int8: N=256 at commit e6a0104, N=1536 at c72ed54 of the fork
github.com/xbfs/sglang. Each names the fastest of 1280 configurations for a number of rows M; times were not
published. The space is that of the script that makes them, ``benchmark/kernels/quantization/
tuning_block_wise_kernel.py``, as of commit 01f5569, which is later than the choices.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import triton

from validation.autotuners.triton_kernel import scaled_matmul
from validation.timing import store as time_store
from warpwatt.choose.ranking import rank as ranked
from warpwatt.integrations.triton import rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from warpwatt.choose.ranking import Candidate, Ranking

GPU = "a100-sxm4-80gb"
BLOCKS = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M")
SPACE = {
    "BLOCK_SIZE_M": (16, 32, 64, 128, 256),
    "BLOCK_SIZE_N": (32, 64, 128, 256),
    "BLOCK_SIZE_K": (64, 128),
    "GROUP_SIZE_M": (1, 16, 32, 64),
    "num_warps": (4, 8),
    "num_stages": (2, 3, 4, 5),
}
ROWS = (64, 1024)
"""Of the published numbers of rows."""
OTHERS = 19
"""Configurations drawn from the space to rank the published one among."""
SEED = 0
_SIZES = re.compile(r"N=(\d+),K=(\d+),")

PROTOCOL = """\
## A Triton kernel: published choices

Times of near-best configurations of one Triton kernel are public
([mixture of experts](mixture_of_experts.md)), those of whole searches were not found. Published are the
*choices* that searches on a
GPU made; here those of SGLang for an int8 matrix multiplication on the A100 (`autotuners_triton.py` names
files and commits), each the fastest of its script's space, {space} configurations in the version at hand.
Our own kernel of that shape is ranked by
`warpwatt.integrations.triton.rank` in {others} configurations drawn from the same space (seed {seed}) and the
published one. *Ahead*: how many of the others are predicted faster than the published choice; half of them
would be chance. *Predicted loss*: how much slower than our first the choice is predicted to be. Times were
not published, so that no loss in measured time can be given. The Triton that chose was of 2025, ours is
{triton}.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A published choice: C is M × N, the depth is K."""

    m: int
    n: int
    k: int
    chosen: Mapping[str, int]


def section(folder: Path) -> str:
    """Return the section of the page."""
    whole = len(list(itertools.product(*SPACE.values())))
    lines = [
        PROTOCOL.format(space=whole, others=OTHERS, seed=SEED, triton=triton.__version__).strip(),
        "",
        "| M × N × K | published choice | ahead | predicted loss | cannot launch | causes of the others |",
        "|---" * 6 + "|",
    ]
    ahead = total = 0
    for choice in choices(folder):
        ranking = _kept(choice)
        place = [dict(d.candidate.parameters) for d in ranking.decisions].index(_parameters(choice.chosen))
        lines.append(_line(choice, ranking, place))
        ahead, total = ahead + place, total + len(ranking.decisions) - 1
    lines += ["", f"Ahead of the published choices over all rows: {ahead} of {total} ({ahead / total:.0%})."]
    return "\n".join(lines).replace("%)", " %)")


def choices(folder: Path) -> Iterator[Choice]:
    """Yield the published choices in a folder."""
    for file in sorted(folder.glob("N=*.json")):
        found = _SIZES.search(file.name)
        assert found is not None, file
        published = json.loads(file.read_text())
        for rows in ROWS:
            yield Choice(rows, int(found[1]), int(found[2]), published[str(rows)])


def _kept(choice: Choice) -> Ranking:
    version = time_store.version(*time_store.LOWER_FLOORS, "models", "published", "gpus")
    key = (choice.m, choice.n, choice.k, tuple(choice.chosen.items()), OTHERS, SEED, triton.__version__)
    return ranked(time_store.kept(f"choices-{version}", key, lambda: _predicted(choice)), keep=0.1)


def _predicted(choice: Choice) -> tuple[Candidate, ...]:
    """Return the predictions of the published choice and of others drawn from the space."""
    every = [dict(zip(SPACE, values, strict=True)) for values in itertools.product(*SPACE.values())]
    others = [c for c in every if c != dict(choice.chosen)]
    drawn = random.Random(f"{SEED} {choice.m} {choice.n}").sample(others, OTHERS)
    tuned = triton.autotune([_config(c) for c in (choice.chosen, *drawn)], key=["M", "N", "K"])(scaled_matmul)
    print(f"{choice.m} x {choice.n} x {choice.k}", file=sys.stderr, flush=True)
    arguments = {
        "a": "i8[M*K]", "b": "i8[N*K]", "c": "bf16[M*N]", "a_scale": "f32[M*K//128]",
        "b_scale": "f32[(N + 127)//128*(K//128)]", "M": choice.m, "N": choice.n, "K": choice.k,
    }  # fmt: skip
    found = rank(tuned, GPU, grid=_grid, args=arguments, keep=None)
    failed = [d.reason for d in found.decisions if d.cause == "not predicted"]
    if failed:
        raise RuntimeError(f"{len(failed)} configurations were not predicted: {failed[0]}")
    return tuple(decision.candidate for decision in found.decisions)


def _grid(values: Mapping[str, int]) -> int:
    down = -(-values["M"] // values["BLOCK_SIZE_M"])
    return down * -(-values["N"] // values["BLOCK_SIZE_N"])


def _config(chosen: Mapping[str, int]) -> triton.Config:
    blocks = {name: chosen[name] for name in BLOCKS}
    return triton.Config(blocks, num_warps=chosen["num_warps"], num_stages=chosen["num_stages"])


def _parameters(chosen: Mapping[str, int]) -> dict[str, object]:
    return dict(_config(chosen).all_kwargs())


def _line(choice: Choice, ranking: Ranking, place: int) -> str:
    c, decision = choice.chosen, ranking.decisions[place]
    tile = "×".join(str(c[name]) for name in BLOCKS[:3])
    said = f"{tile}, group {c['GROUP_SIZE_M']}, {c['num_warps']} warps, {c['num_stages']} stages"
    causes = ranking.causes()
    refused = causes.pop("cannot launch", 0)
    common = "; ".join(f"{cause} {count}" for cause, count in list(causes.items())[:2])
    return (
        f"| {choice.m} × {choice.n} × {choice.k} | {said} | {place} of {len(ranking.decisions) - 1} "
        f"| {100 * (decision.ratio - 1):.0f} % | {refused} | {common} |"
    )
