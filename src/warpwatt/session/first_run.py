"""What the first prediction on a machine says to who waits for it: our own code is compiled then, once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MESSAGE = "first prediction here: compiling the emulator takes about a minute, once; later ones take seconds"


def announce(tell: Callable[[str], None]) -> None:
    """Tell somebody at a terminal that the emulator is about to be compiled, if it is."""
    if sys.stderr.isatty() and not compiled():
        tell(MESSAGE)


def compiled() -> bool:
    """Return whether the emulator's code is in the cache."""
    from warpwatt.emulate.native.aot import Library  # noqa: PLC0415 - only where somebody watches
    from warpwatt.emulate.native.engine import EXPORTS, MODULES  # noqa: PLC0415
    from warpwatt.frontend.cache import default_cache  # noqa: PLC0415

    return default_cache().get(Library(MODULES, EXPORTS).key) is not None
