"""The closed forms of Wang and Chu (2018) against the exact simulation, on seeded random cases."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warpwatt.published.wang_chu.regimes import Round, active_cycles, printed_cycles, regime, simulated_cycles

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED, CASES = 0, 3000


@dataclass(frozen=True, slots=True)
class Drawn:
    """A random round, its block size and what the simulation says."""

    round: Round
    warps_per_block: int
    cycles: float

    @property
    def corrected(self) -> float:
        """Relative error of the corrected closed form."""
        return active_cycles(self.round) / self.cycles - 1.0

    @property
    def exchanged(self) -> float:
        """The same as printed but for ``#Aw`` in equation (11)."""
        return printed_cycles(self.round, self.round.warps) / self.cycles - 1.0

    @property
    def printed(self) -> float:
        """The same exactly as printed."""
        return printed_cycles(self.round, self.warps_per_block) / self.cycles - 1.0


def drawn(count: int = CASES, seed: int = SEED) -> list[Drawn]:
    """Return random rounds: 1-64 warps, 1-20 iterations, 1-1000 cycles of computation, 1-100 of delay."""
    source = random.Random(seed)
    return [_draw(source) for _ in range(count)]


def _draw(source: random.Random) -> Drawn:
    warps = source.randint(1, 64)
    r = Round(
        compute=math.exp(source.uniform(0.0, math.log(1000.0))),
        delay=math.exp(source.uniform(0.0, math.log(100.0))),
        latency=source.uniform(200.0, 800.0),
        warps=warps,
        iterations=source.randint(1, 20),
    )
    return Drawn(r, source.randint(1, warps), simulated_cycles(r))


def table(cases: Iterable[Drawn]) -> str:
    """Return mean and largest absolute error by case, in percent."""
    groups: dict[str, list[Drawn]] = {"all": []}
    for one in cases:
        groups["all"].append(one)
        groups.setdefault(regime(one.round).value, []).append(one)
    rows = [
        "| case | rounds | corrected, mean | largest | conditions as printed | as printed |",
        "|" + "---|" * 6,
    ]
    for name, own in groups.items():
        sizes = [[abs(getattr(one, kind)) for one in own] for kind in ("corrected", "exchanged", "printed")]
        means = [100.0 * math.fsum(column) / len(own) for column in sizes]
        cells = (f"{means[0]:.2f}", f"{100 * max(sizes[0]):.1f}", f"{means[1]:.1f}", f"{means[2]:.1f}")
        rows.append(f"| {name} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(rows)
