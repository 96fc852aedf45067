"""The 32 program features of Alavani's power model (thesis, Table 5.4).

The paper's Table 1 lists 31 of them: ``shar_inst_kernel`` is missing.

``extract`` computes them in one of two conventions: ``thesis`` follows the printed equations and
Algorithms 9 and 10; ``published`` is what the released data hold, and thus what a model trained on them
must be fed. ``validation/alavani/features.py`` measures how well each convention reproduces the data.
"""

from __future__ import annotations

from warpwatt.published.alavani.features.constants import (
    Constants,
    has_released_table,
    published_constants,
    thesis_constants,
)
from warpwatt.published.alavani.features.extraction import extract
from warpwatt.published.alavani.features.values import NAMES, Convention, Features

__all__ = [
    "NAMES",
    "Constants",
    "Convention",
    "Features",
    "extract",
    "has_released_table",
    "published_constants",
    "thesis_constants",
]
