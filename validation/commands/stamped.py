"""The command line, whose workers note each row of a sweep that they are done with."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from warpwatt.commands.main import main
from warpwatt.sweep import pool
from warpwatt.sweep.units import work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warpwatt.sweep.rows import Row
    from warpwatt.sweep.sweep import Sweep
    from warpwatt.sweep.units import Unit

STAMPS = "WARPWATT_VALIDATION_STAMPS"
"""Variable that names the file of stamps."""


def stamped(sweep: Sweep, unit: Unit) -> Iterator[Row]:
    """Yield the rows of a unit; who asks for the next has sent the one before."""
    file = os.open(os.environ[STAMPS], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        for row in work(sweep, unit):
            yield row
            os.write(file, f"{row.number}\n".encode())
    finally:
        os.close(file)


pool.work = stamped  # type: ignore[attr-defined] # fresh interpreters of a pool import this module too

if __name__ == "__main__":
    sys.argv[0] = "warpwatt"
    main()
