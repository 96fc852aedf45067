"""Which points are measured: by protocol and by pattern; and what has to be compiled for them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.lab.measure.device import DeviceInfo
from warpwatt.lab.measure.microbench import suite
from warpwatt.lab.measure.microbench.points import label_of
from warpwatt.lab.measure.points import points

if TYPE_CHECKING:
    from warpwatt.lab.measure.corpus import Corpus, CorpusProgram
    from warpwatt.lab.measure.microbench.model import Probe

PROTOCOLS = ("time", "micro", "power")


@dataclass(frozen=True, slots=True)
class PointChoice:
    """Points of some protocols whose label has one of the patterns; ``*`` and ``?`` as in file names.

    >>> PointChoice(only=("mat*/large",)).takes("time matmul/large")
    True
    >>> PointChoice(("power",)).takes("time matmul/large")
    False
    """

    protocols: tuple[str, ...] = PROTOCOLS
    only: tuple[str, ...] = ()

    def takes(self, label: str) -> bool:
        """Return whether a point of this label is measured; its first word is its protocol."""
        asked = not self.only or any(fnmatch.fnmatchcase(label, f"*{pattern}*") for pattern in self.only)
        return asked and label.split(maxsplit=1)[0] in self.protocols


def needed_programs(corpus: Corpus, choice: PointChoice) -> list[CorpusProgram]:
    """Return the programs that some chosen point runs, on whatever target."""
    newest = max((int(program.least_target.removeprefix("sm_")) for program in corpus), default=0)
    needed = {point.key[0] for point in points(corpus, newest) if choice.takes(point.label)}
    return [program for program in corpus if program.name in needed]


def needed_probes(target: str, choice: PointChoice) -> Iterable[Probe]:
    """Return the probes that some chosen point runs on a target such as ``sm_90``."""
    any_device = DeviceInfo("", "", "", target, sm_count=1, l2_bytes=2**20, memory_bytes=2**30)
    found = suite.microbenchmarks(any_device)
    return {one.probe.name: one.probe for one in found if choice.takes(label_of(one))}.values()
