"""SASS: cubin contents, decoding and nvdisasm's listing, control codes, opcodes, translation into a Program.

Public names: ``read_cubin(data) -> Cubin`` (one ``CubinKernel`` per entry, when it is asked for: resources,
code bytes, source lines), ``known_program(kernel, target) -> Program | None`` without nvdisasm,
``programs(cubin, text) -> Mapping[str, Program]`` from what it prints, ``decode_control(word) ->
ControlCode``, ``with_architecture(data, sm) -> bytes``, a cubin under another architecture's name.
"""

from warpwatt.isa.sass.cubin import Cubin, CubinKernel, read_cubin, with_architecture
from warpwatt.isa.sass.listing import decode_control
from warpwatt.isa.sass.lower import known_program, programs

__all__ = [
    "Cubin",
    "CubinKernel",
    "decode_control",
    "known_program",
    "programs",
    "read_cubin",
    "with_architecture",
]
