"""GPUs as data: one TOML file per board and per compute capability, a citation on every number.

Public names: ``find(name) -> Gpu``, ``find_many(list) -> tuple[Gpu, ...]``, ``names() -> tuple[str, ...]``,
``capability(version) -> Capability``, ``default_clocks(gpu) -> Clocks``,
``occupancy(gpu, resources, launch) -> Occupancy``, ``check_launch(gpu, resources, launch) -> None``,
``missing(gpu) -> tuple[str, ...]``. Further rooms: ``latencies`` (tables with their sources), ``timings``
(measurements of the memory hierarchy), ``power`` (static power), ``check`` (the data check) and ``describe``
(plain rows for the command line).
"""

from warpwatt.gpus.capabilities import capability
from warpwatt.gpus.catalog import names
from warpwatt.gpus.launchable import check_launch
from warpwatt.gpus.load import default_clocks, find, find_many, missing, names_many, with_power_limit
from warpwatt.gpus.occupancy import occupancy

__all__ = [
    "capability",
    "check_launch",
    "default_clocks",
    "find",
    "find_many",
    "missing",
    "names",
    "names_many",
    "occupancy",
    "with_power_limit",
]
