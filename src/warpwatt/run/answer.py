"""What a device answers to a message of the program: CUDA's error, how long the call took, and data."""

from __future__ import annotations

from dataclasses import dataclass

INVALID_VALUE, INVALID_CONFIGURATION, INVALID_DEVICE_FUNCTION = 1, 9, 98
NO_KERNEL_IMAGE, INVALID_HANDLE, NOT_READY, NOT_SUPPORTED = 209, 400, 600, 801
"""Codes of ``cudaError_t``."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply says."""

    error: int = 0
    waited: float = 0.0
    """Seconds that the call takes on the machine that is predicted."""
    data: bytes = b""
    descriptor: int | None = None
