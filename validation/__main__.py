"""Run every validation that needs nothing beyond the checkout and ``../shared``.

``python -m validation`` runs them all; scripts that need folders of third-party sources are run one by one
(see validation/README.md).
"""

from __future__ import annotations

import sys
from importlib import import_module

SCRIPTS = (
    "alavani.worked_examples",
    "alavani.features",
    "alavani.time",
    "timing.models",
    "alavani.peers",
    "timing.hybrid",
    "boughzala.block_model",
    "wang_chu.clock_scaling",
    "commands.clocks_and_blocks",
    "measuring.microbench_check",
    "measuring.fits",
    "corpus.table",
    "explanations.edits",
)


def main() -> int:
    """Run the scripts in order; return 1 if any failed."""
    failed = []
    for name in SCRIPTS:
        print(f"== {name}")
        try:
            import_module(f"validation.{name}").main()
        except (OSError, RuntimeError, ValueError) as error:
            print(f"{name} failed: {error}")
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
