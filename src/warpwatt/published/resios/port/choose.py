"""Which way to write each kernel: the one predicted fastest; by the thesis' rules where nothing predicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from warpwatt.compose import Choice, predict
from warpwatt.core.errors import EndlessLoopError, LaunchError, ToolchainError, UnsupportedGpuError
from warpwatt.core.estimate import Estimate
from warpwatt.core.gpu import Clocks, Gpu
from warpwatt.core.launch import L2State
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.load import load_kernel
from warpwatt.models.overhead import launch_overhead
from warpwatt.published.resios.port.launches import LaunchedKernel, launch_at
from warpwatt.published.resios.port.result import Alternative

if TYPE_CHECKING:
    from warpwatt.core.prediction import Prediction
    from warpwatt.published.resios.c_loops.cuda import Generated
    from warpwatt.published.resios.c_loops.mapping import Mapping
    from warpwatt.published.resios.port.launches import Times
    from warpwatt.published.resios.port.variants import Variant
    from warpwatt.published.resios.prognosis import Prognosis
    from warpwatt.published.resios.schedule.transform import Program

RESIOS = "resios"
"""Name of the model; asked for alone, the default model is left out."""
SMALL_SHARE = 0.03
"""A kernel with less of the predicted time is written as the thesis' rules say: nothing else is tried."""


@dataclass(frozen=True, slots=True)
class Target:
    """What predicts: the GPU, its clocks, the models."""

    gpu: Gpu
    clocks: Clocks | None
    choice: Choice


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """A kernel, its launches, Resios' prognosis, and the ways to write it."""

    launched: LaunchedKernel
    mapping: Mapping
    prognosis: Prognosis
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The way taken: its text, predictions of its sampled launches, seconds of all launches, the others.

    ``reorders``: sums come in another order than in the source.

    Of several kernels in a row ``samples`` has the slowest one's.
    """

    generated: Generated
    samples: tuple[Prediction, ...]
    predicted: Estimate | None
    alternatives: tuple[Alternative, ...]
    reorders: bool = False


def choose(
    program: Program, found: Sequence[Candidates], target: Target, take: Sequence[str] = ()
) -> tuple[tuple[Chosen, ...], str]:
    """Return how each kernel is written, and why nothing was predicted where that is so.

    ``take`` names the ways instead, one per kernel; a name that a kernel does not have means its first.
    """
    if take or target.choice.time == RESIOS:
        names = [*take, *[""] * len(found)]
        picked = [_named(one, name) for one, name in zip(found, names, strict=False)]
        return tuple(_unpredicted(program, one, v) for one, v in zip(found, picked, strict=True)), ""
    try:
        return _Choosing(program, found, target).all(), ""
    except (UnsupportedGpuError, ToolchainError, LaunchError) as error:
        return tuple(_unpredicted(program, one, one.variants[0]) for one in found), error.message


def _named(one: Candidates, name: str) -> Variant:
    return next((v for v in one.variants if v.name == name), one.variants[0])


def _unpredicted(program: Program, one: Candidates, variant: Variant) -> Chosen:
    return Chosen(_final(program, one, variant), (), None, (), variant.reorders)


def _final(program: Program, one: Candidates, variant: Variant) -> Generated:
    """Return a variant under the kernel's own name, its launch that in the middle."""
    made = variant.generated.renamed(lambda name: name.rsplit("_v", 1)[0])
    first, *rest = (_launched(program, one, kernel) for kernel in made.chain)
    return replace(first, then=tuple(rest))


def _launched(program: Program, one: Candidates, made: Generated) -> Generated:
    launch = launch_at(program, one.launched.kernel, made, one.launched.middle)
    return replace(made, launch=replace(launch, l2=_l2(one)))


def _l2(one: Candidates) -> L2State:
    """Return the state of the L2 cache: earlier launches of a host loop left the data in it."""
    return L2State.WARM if len(one.launched.launches) > 1 else L2State.COLD


@dataclass(frozen=True, slots=True)
class _Choosing:
    program: Program
    found: Sequence[Candidates]
    target: Target

    def all(self) -> tuple[Chosen, ...]:
        """Return the choice for every kernel."""
        kernels = (k for one in self.found for v in one.variants for k in v.generated.chain)
        text = "\n".join(kernel.text for kernel in kernels)
        source = Source("variants.cu", text.encode())
        first = [self._seconds(source, one, one.variants[0]) for one in self.found]
        every = [s * len(one.launched.launches) for one, s in zip(self.found, first, strict=True)]
        small = SMALL_SHARE * sum(filter(math.isfinite, every))
        chosen = []
        for one, seconds, all_launches in zip(self.found, first, every, strict=True):
            others = one.variants[1:] if all_launches > small else ()
            timed = [(seconds, one.variants[0])]
            timed += [(self._seconds(source, one, v), v) for v in others]
            best = min(timed, key=lambda pair: pair[0])
            chosen.append(self._chosen(source, one, best[1], timed))
        return tuple(chosen)

    def _chosen(
        self, source: Source, one: Candidates, best: Variant, timed: Sequence[tuple[float, Variant]]
    ) -> Chosen:
        sampled = [self._predicted(source, one, best, times) for times in one.launched.samples]
        samples = tuple(max(chain, key=lambda p: p.time.value) for chain in sampled)
        count = len(one.launched.launches)
        predicted = added(p.time for chain in sampled for p in chain).scaled(count / len(sampled))
        alternatives = tuple(
            Alternative(v.name, seconds, v is best, v.reorders)
            for seconds, v in sorted(timed, key=lambda pair: pair[0])
            if math.isfinite(seconds)
        )
        return Chosen(_final(self.program, one, best), samples, predicted, alternatives, best.reorders)

    def _seconds(self, source: Source, one: Candidates, variant: Variant) -> float:
        """Return the predicted seconds of the launch in the middle; infinite where a thread does too much."""
        try:
            chain = self._predicted(source, one, variant, one.launched.middle)
        except EndlessLoopError:
            return math.inf
        more = launch_overhead(self.target.gpu).value * (len(chain) - 1)
        return sum(p.time.value for p in chain) + more

    def _predicted(
        self, source: Source, one: Candidates, variant: Variant, times: Times
    ) -> tuple[Prediction, ...]:
        """Return the predictions of what is launched, one kernel or several."""
        gpu = self.target.gpu
        found = []
        for made in variant.generated.chain:
            kernel = load_kernel(source, gpu.target, name=made.name)
            launch = replace(launch_at(self.program, one.launched.kernel, made, times), l2=_l2(one))
            found.append(predict(kernel, launch, gpu, clocks=self.target.clocks, choice=self.target.choice))
        return tuple(found)


def added(parts: Iterable[Estimate]) -> Estimate:
    """Return the sum of estimates."""
    return reduce(lambda a, b: a.combine(b, lambda x, y: x + y, "s"), parts, Estimate.exact(0.0, "s"))
