"""PTX: parser, opcode table and the translation into :class:`~warpwatt.core.program.Program`.

Public names: ``parse(text, file=None) -> Module``, ``entries(module) -> tuple[str, ...]``,
``text_of(module, entry) -> str``, ``lower(module, entry) -> Program``.
"""

from warpwatt.isa.ptx.lower import lower
from warpwatt.isa.ptx.parser import entries, parse, text_of

__all__ = ["entries", "lower", "parse", "text_of"]
