"""Scripts that recompute published tables or compare with public data; results go to ``docs/validation/``."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
