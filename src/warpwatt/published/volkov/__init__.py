"""``volkov``: throughput by concurrency, latency and bounds (Volkov 2016)."""

from warpwatt.published.volkov.model import Volkov

__all__ = ["Volkov"]
