"""Machine code read without nvdisasm, from tables of how it prints the words of each architecture.

Public names: ``decode(kernel, sm) -> tuple[Line, ...] | None``, None where a word is of a form not known.
"""

from warpwatt.isa.sass.decoding.decode import decode

__all__ = ["decode"]
