"""What one request may cost."""

from __future__ import annotations

from dataclasses import dataclass

MIB, GIB = 2**20, 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one request; beyond them its process is killed and the answer says which bound it was.

    Attributes
    ----------
    seconds
        From the start of its process to the answer.
    memory
        Bytes that the process and the compilers it starts hold together (resident).
    compiler_memory
        Address space of each compiler.
    file
        Bytes of the largest file any of them may write.
    buffers
        Bytes of all buffers of a launch: reserved, not held, as long as the kernel does not touch them.
    answer
        Bytes of an answer.
    predictions
        Launches times GPUs of one request.
    """

    seconds: float = 30.0
    memory: int = 3 * GIB
    compiler_memory: int = 4 * GIB
    file: int = 64 * MIB
    buffers: int = 128 * GIB
    answer: int = 64 * MIB
    predictions: int = 64
