"""Instruction sets: text and bytes in, :class:`~warpwatt.core.program.Program` out. PTX and SASS."""
