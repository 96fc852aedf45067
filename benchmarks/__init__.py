"""Speed, as ratios against something run beside it. ``python -m benchmarks`` prints the table."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Give the body, and what it starts, an empty cache: what an earlier run has kept is not read."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WARPWATT_CACHE_DIR"] = folder
        yield
