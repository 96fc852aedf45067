"""Units as numbers, for tests and scripts: ``assert kernel.energy < 2 * mJ``.

Everything in WarpWatt is in SI units, so a unit is how many of them it is.

>>> 12 * us, 48 * KiB, 75 * percent
(1.2e-05, 49152, 0.75)
"""

from __future__ import annotations

s = 1.0
ms = 1e-3
us = 1e-6
ns = 1e-9

W = 1.0
mW = 1e-3
kW = 1e3

J = 1.0
kJ = 1e3
mJ = 1e-3
uJ = 1e-6
nJ = 1e-9
Wh = 3600.0
kWh = 3.6e6

Hz = 1.0
MHz = 1e6
GHz = 1e9

B = 1
kB = 10**3
MB = 10**6
GB = 10**9
KiB = 2**10
MiB = 2**20
GiB = 2**30

percent = 0.01

__all__ = [
    "GB", "MB", "B", "GHz", "GiB", "Hz", "J", "KiB", "MHz", "MiB", "W", "Wh", "kB", "kJ", "kW", "kWh", "mJ",
    "mW", "ms", "nJ", "ns", "percent", "s", "uJ", "us",
]  # fmt: skip
