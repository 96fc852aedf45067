"""What the sections of a cubin say about the memory its code expects."""

import struct

from warpwatt.core.program import Pointer
from warpwatt.isa.sass.elf import Elf, Section, Symbol, read_elf
from warpwatt.isa.sass.image import read_image

OBJECT, RELA, NOBITS = 1, 4, 8
LOW, HIGH = 56, 57


def cubin(*relocations):
    """An ELF file with two global variables, and relocations (offset, type, symbol) of a kernel's code."""
    rows = b"".join(struct.pack("<QQq", at, symbol << 32 | kind, 0) for at, kind, symbol in relocations)
    sections = (
        Section(".text.k", 1, 0, 256, 0, 0, bytes(256)),
        Section(".rela.text.k", RELA, 0, len(rows), 0, 0, rows),
        Section(".nv.global", NOBITS, 0, 512, 0, 0, b""),
    )
    symbols = (Symbol("k", 2, 0, 0, 256), Symbol("x", OBJECT, 2, 0, 256), Symbol("y", OBJECT, 2, 256, 256))
    return Elf(2, 190, 0, 7, sections, symbols)


def test_halves_of_an_address_in_instructions_share_a_word_of_a_bank():
    found = read_image(cubin((0x10, LOW, 2), (0x40, HIGH, 2), (0x50, LOW, 1)), "k", 75)
    assert found.pointers == (Pointer(18, 0, "y"), Pointer(18, 8, "x"))
    assert found.immediates == {0x10: "c[0x12][0x0]", 0x40: "c[0x12][0x4]", 0x50: "c[0x12][0x8]"}
    assert found.constants[18] == bytes(16)


def test_code_without_addresses_has_no_bank_of_ours():
    found = read_image(cubin((0x10, 2, 1), (0x20, LOW, 0)), "k", 75)
    assert found.immediates == {}
    assert found.constants == {}


def test_variables_of_relocatable_code_that_start_as_zeros_have_no_bytes_in_the_file():
    names = b"\0.nv.global\0.names\0".ljust(64, b"\0")
    rows = [(0,) * 10, (1, 0x70000007, 3, 0, 64, 4096, 0, 0, 4, 0), (12, 3, 0, 0, 64, 64, 0, 0, 1, 0)]
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1", 1, 190, 1, 0, 0, 128, 0, 64, 0, 0, 64, 3, 2)
    found = read_elf(head + names + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows))
    section = found.section(".nv.global")
    assert (section.size, section.data) == (4096, b"")
