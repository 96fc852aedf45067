"""SASS: cubin contents, disassembly with control codes, opcode table, translation into a Program.

Public names: ``read_cubin(data) -> Cubin`` (one ``CubinKernel`` per entry: resources, code bytes, source
lines), ``programs(cubin) -> Mapping[str, Program]``, ``decode_control(word) -> ControlCode``.
"""
