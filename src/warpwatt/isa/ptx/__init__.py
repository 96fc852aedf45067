"""PTX: parser, printer, opcode table and the translation into :class:`~warpwatt.core.program.Program`.

Public names: ``parse(text, file=None) -> Module``, ``print_module(module) -> str``,
``lower(module, entry) -> Program``, ``entries(module) -> tuple[str, ...]``.
"""

from warpwatt.isa.ptx.lower import lower
from warpwatt.isa.ptx.parser import entries, parse
from warpwatt.isa.ptx.printer import print_module

__all__ = ["entries", "lower", "parse", "print_module"]
