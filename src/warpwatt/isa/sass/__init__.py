"""SASS: cubin contents, nvdisasm's listing with control codes, opcode table, translation into a Program.

Public names: ``read_cubin(data) -> Cubin`` (one ``CubinKernel`` per entry: resources, code bytes, source
lines), ``programs(cubin, text) -> Mapping[str, Program]``, ``decode_control(word) -> ControlCode``.
"""

from warpwatt.isa.sass.cubin import Cubin, CubinKernel, read_cubin
from warpwatt.isa.sass.listing import decode_control
from warpwatt.isa.sass.lower import programs

__all__ = ["Cubin", "CubinKernel", "decode_control", "programs", "read_cubin"]
