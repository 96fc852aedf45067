"""The SM clock that a board's maker leaves to the board: what nothing holds back, and how sure that is.

Boards for data centres never exceed their rated boost clock; GeForce boards, and workstations' to a lesser
degree, go on to the top of their table of voltages, which is much the same for all dies of an architecture.
"""

from __future__ import annotations

from functools import lru_cache

from warpwatt.core.gpu import Gpu
from warpwatt.gpus.catalog import DATA
from warpwatt.gpus.datafile import DataFile

CARD_SPREAD = 0.05
"""Standard deviation of the logarithm of a GeForce board's clock: cards of one name differ in factory
overclock and temperature, and games run them over a range of 13-18 % (the reviews cited as
``observed_clock``)."""
WORKSTATION_SPREAD = 0.04
"""The same of a board for workstations: an RTX A6000 ran at 1800 MHz, its rated clock, in one public search
(nvidia-smi beside it) and at 1935 in an FP32 load elsewhere (forums.developer.nvidia.com t/203772), an RTX
A5000 at 1635-1650 of 1695 (JimZeyuYang/GPU_Power_Benchmark)."""
LAPTOP_SPREAD = 0.14
"""The same of a laptop's GPU, whose power limit and boost clock are its maker's choice: 1.47-2.37 GHz for one
chip, evenly spread (boost clocks on nvidia.com/geforce/gaming-laptops/compare, five boards of the 40 series:
logarithm of highest over lowest 0.34-0.57, over the square root of 12)."""
MOST = 1.2
"""Of the rated boost clock: no board was observed beyond 1.18."""
_WORKSTATION = ("NVIDIA RTX ", "Quadro ", "Titan", "TITAN")


def free_clock(gpu: Gpu) -> float:
    """Return the SM clock in hertz where neither power nor anybody holds the board back."""
    return gpu.observed_clock or usual_clock(gpu) or gpu.boost_clock


def usual_clock(gpu: Gpu) -> float | None:
    """Return the clock of boards like this one that nobody observed, where those exceed their rated clock."""
    given = gpu.inherits and "boost_clock" not in gpu.inherited
    desktop = gpu.product.startswith("GeForce") and not gpu.product.endswith("Laptop")
    clocks, most_watts = _table()
    if gpu.observed_clock is not None or given or not desktop or (gpu.rated_power or 0.0) >= most_watts:
        return None
    clock = clocks.get((gpu.arch or gpu.capability.arch).split()[0])
    return max(min(clock, MOST * gpu.boost_clock), gpu.boost_clock) if clock else None


def clock_spread(gpu: Gpu) -> float:
    """Return the standard deviation of the logarithm of :func:`free_clock` over boards of this name."""
    if gpu.product.startswith(_WORKSTATION):
        return WORKSTATION_SPREAD
    if not gpu.product.startswith("GeForce"):
        return 0.0
    given = gpu.inherits and "boost_clock" not in gpu.inherited
    return LAPTOP_SPREAD if gpu.product.endswith("Laptop") and not given else CARD_SPREAD


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, float], float]:
    """Return architecture to clock in hertz, and the power limit from which boards hold their rated one."""
    file = DataFile(DATA / "boost.toml")
    rows = file.table("architecture")
    return {name: row["clock_mhz"] * 1e6 for name, row in rows.items()}, file.data["most_watts"]["value"]
