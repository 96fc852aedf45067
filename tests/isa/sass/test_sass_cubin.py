"""Cubins: against pyelftools and nvdisasm, and damaged in every way."""

from __future__ import annotations

import io
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import ParseError, ToolchainError
from warpwatt.isa.sass import programs, read_cubin
from warpwatt.isa.sass.elf import read_elf

from .conftest import HERE, run

FUZZ = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_sections_and_symbols_are_those_of_pyelftools(compiled, target):
    data = compiled(target).file.read_bytes()
    ours, theirs = read_elf(data), ELFFile(io.BytesIO(data))
    assert [s.name for s in ours.sections] == [s.name for s in theirs.iter_sections()]
    for a, b in zip(ours.sections, theirs.iter_sections(), strict=True):
        assert a.size == b["sh_size"]
        if b["sh_type"] not in ("SHT_NOBITS", "SHT_NULL"):
            assert a.data == b.data()
    table: Any = theirs.get_section_by_name(".symtab")
    assert [(s.name, s.value, s.size) for s in ours.symbols] == [
        (s.name, s["st_value"], s["st_size"]) for s in table.iter_symbols()
    ]


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_100"])
def test_source_lines_are_those_of_nvdisasm(compiled, target, tmp_path):
    found = compiled(target)
    listing = run("nvdisasm", "-c", "-gi", found.file, cwd=tmp_path)
    kernel, pending, lines, checked, inlined = None, [], [], 0, 0
    for text in listing.splitlines():
        if m := re.match(r"\.text\.(\S+):", text):
            kernel, pending, lines = found.cubin.kernel(m[1]), [], []
        elif m := re.match(r'\s+//## File "([^"]*)", line (\d+)(.*)', text):
            pending.append((m[1], int(m[2])))
            inlined += "inlined at" in m[3]
        elif m := re.match(r"\s+/\*([0-9a-f]{4,5})\*/", text):
            lines, pending = pending or lines, []
            chain, line = [], kernel.lines.at(int(m[1], 16))
            while line:
                chain.append((line.file, line.line))
                line = line.inlined_at
            assert chain == lines
            checked += 1
    assert checked > 500
    assert inlined > 0


def test_lines_reach_the_instructions(compiled):
    program = compiled("sm_90").programs["saxpy"]
    lines = {str(i.line.inlined_at or i.line) for i in program.instructions if i.line}
    source = (HERE / "kernels.cu").read_text().splitlines()
    number = next(n for n, text in enumerate(source, 1) if "scaled(a * x[i])" in text)
    assert f"{HERE / 'kernels.cu'}:{number}" in lines


@pytest.mark.parametrize("data", [b"", b"hello", b"\x7fELF", b"\x7fELF" + bytes(60), bytes(64)])
def test_what_is_no_cubin_is_a_parse_error(data):
    with pytest.raises(ParseError):
        read_cubin(data)


def test_an_executable_is_no_cubin():
    with pytest.raises(ParseError, match="not a cubin"):
        read_cubin(Path(sys.executable).read_bytes())


@FUZZ
@given(st.floats(0, 1, exclude_max=True))
def test_truncation_is_a_parse_error(compiled, fraction):
    data = compiled("sm_90").file.read_bytes()
    with pytest.raises(ParseError):
        _ = read_cubin(data[: int(fraction * len(data))]).kernels


@FUZZ
@given(st.data())
def test_flipped_bits_raise_nothing_but_parse_errors(compiled, data):
    cubin = bytearray(compiled("sm_75").file.read_bytes())
    table = int.from_bytes(cubin[40:48], "little")
    anywhere = st.integers(0, len(cubin) * 8 - 1)
    header = st.integers(0, 64 * 8 - 1)
    sections = st.integers(table * 8, len(cubin) * 8 - 1)
    for bit in data.draw(st.lists(st.one_of(anywhere, header, sections), min_size=1, max_size=8)):
        cubin[bit // 8] ^= 1 << bit % 8
    with suppress(ParseError):
        assert read_cubin(bytes(cubin)).kernels is not None


@FUZZ
@given(st.data())
def test_damaged_line_tables_and_attributes_raise_nothing_else(compiled, data):
    original = compiled("sm_90").file.read_bytes()
    cubin = bytearray(original)
    for name in (".debug_line", ".nv.info", ".nv.info.choose", ".rela.debug_line"):
        section = next(s for s in read_elf(original).sections if s.name == name)
        start = original.index(section.data)
        for offset in data.draw(st.lists(st.integers(0, len(section.data) - 1), max_size=4)):
            cubin[start + offset] = data.draw(st.integers(0, 255))
    with suppress(ParseError):
        assert read_cubin(bytes(cubin)).kernels is not None


def test_listings_that_are_none_or_of_another_cubin_are_refused(compiled):
    cubin = compiled("sm_90").cubin
    for text in ("[]", "garbage", b"\xff", '[{}, [{"function-name": 1}]]', "[{}, [3]]"):
        with pytest.raises(ToolchainError, match="unknown form"):
            programs(cubin, text)
    with pytest.raises(ParseError, match="damaged"):
        programs(cubin, "[{}, []]")
