"""Machine code read by the tables, with nvdisasm as the oracle."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.isa.sass.conftest import SPECIAL, TARGETS
from validation.machine_code.oracle import ask

from warpwatt.isa.sass.decoding import decode
from warpwatt.isa.sass.decoding.encodings import TABLES, Encoding, encodings
from warpwatt.isa.sass.listing import read_listing

TRUE = 7 << 12
"""The guard of an instruction without a predicate."""


@pytest.mark.toolchain
@pytest.mark.parametrize("target", [*TARGETS, *SPECIAL])
def test_what_the_tables_print_is_what_nvdisasm_prints(compiled, target):
    cubin, listing = compiled(target).cubin, read_listing(compiled(target).listing)
    sm = int(cubin.target.removeprefix("sm_"))
    read = {kernel.name: decode(kernel, sm) for kernel in cubin.kernels}
    assert [name for name, lines in read.items() if lines is not None and lines != listing[name]] == []
    assert sum(lines is not None for lines in read.values()) >= 0.5 * len(read) * (sm in TABLES)


@pytest.mark.toolchain
def test_words_put_together_from_two_are_printed_as_by_nvdisasm_or_not_at_all(compiled):
    """No bit is without meaning: half of the bits of one instruction in another of the same encoding."""
    draw, table = random.Random(1), encodings(90)
    code = b"".join(kernel.code for kernel in compiled("sm_90").cubin.kernels)
    words = [int.from_bytes(code[i : i + 16], "little") for i in range(0, len(code), 16)]
    keep = (
        1 << 23
    ) - 1 << 105  # scheduling information and reuse flags, not every combination of which is legal
    mixed = []
    for word in words:
        other = draw.choice([one for one in words if one & 0xFFF == word & 0xFFF])
        bits = draw.getrandbits(128) & ~keep
        mixed.append(word & ~bits | other & bits)
    known = [word for word in mixed if table.form(word)]
    assert len(known) > 100
    for i, (word, wanted) in enumerate(zip(known, ask(known, "SM90a"), strict=True)):
        form = table.form(word)
        if wanted is not None:  # else nvdisasm calls the word illegal
            assert (form.predicate.of(word, 16 * i), form.opcode, form.operands.of(word, 16 * i)) == wanted


def test_words_of_a_form_that_no_table_has_are_left_to_nvdisasm(compiled):
    kernel = compiled("sm_90").cubin.kernel("nothing")
    assert decode(kernel, 90) is not None
    assert decode(replace(kernel, code=kernel.code + bytes(16)), 90) is None
    assert decode(replace(kernel, relocated=True), 90) is None
    assert decode(kernel, 61) is None


def test_words_of_volta_are_those_of_turing(compiled):
    kernel = compiled("sm_75").cubin.kernel("nothing")
    assert decode(kernel, 70) == decode(kernel, 75) is not None


def test_a_bit_that_nothing_printed_depends_on_must_be_as_in_programs():
    row = {
        "predicate": "",
        "opcode": "MOV",
        "split": [],
        "layouts": {"": ["{R16.8}", [["32"], {"1": "{x33.4}"}]]},
        "unread": [hex(1 << 80), ["0"]],
    }
    encoding = Encoding(row)
    word = 5 << 16 | 1 << 32 | 9 << 33
    assert encoding.form(word).operands.of(word, 0) == "R5,0x9"
    assert encoding.form(word | 1 << 80) is None
    assert encoding.form(word & ~(1 << 32)) is None


def test_every_table_is_read_and_names_fields_that_print():
    for sm in TABLES:
        form = encodings(sm).form(0x000FE20008000F00_0000000500007C02)  # MOV R0, UR5
        assert f"{form.opcode} {form.operands.of(5 << 32, 0)}" == "MOV R0,UR5"


@pytest.mark.toolchain
def test_masks_of_predicates_are_printed_but_for_the_usual_one():
    """R2P prints its literal unless that is 0xff."""
    word, table = 0x000FE200000000000000000600007804, encodings(90)
    words = [word & ~(0xFF << 32) | mask << 32 for mask in (0, 1, 6, 0x7E, 0x7F, 0xFF)]
    forms = [table.form(one) for one in words]
    printed = [
        (f.predicate.of(w, 0), f.opcode, f.operands.of(w, 0)) for f, w in zip(forms, words, strict=True)
    ]
    assert printed == ask(words, "SM90a")
