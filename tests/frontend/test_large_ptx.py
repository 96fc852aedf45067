"""A large PTX library: kernels are assembled one by one, and come out as they would have whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpwatt.frontend import compilation
from warpwatt.frontend import load as module
from warpwatt.frontend.load import load_kernel
from warpwatt.isa import ptx
from warpwatt.isa.ptx.body import Body

if TYPE_CHECKING:
    from warpwatt.isa.ptx.syntax import Function

KERNEL = """
.visible .entry k{i}(.param .u64 p)
{{
    .reg .b64 %rd<3>; .reg .b32 %r<3>;
    .loc 1 {i} 0
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    call.uni (%r2), twice, (%r1);
    st.global.u32 [%rd1], %r2;
    ret;
}}
"""
HEAD = """
.version 8.0
.target sm_75
.address_size 64
.file 1 "library.cu"
.func (.reg .b32 %o) twice(.reg .b32 %i)
{
    add.u32 %o, %i, %i;
    ret;
}
"""


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "library.ptx"
    path.write_text(HEAD + "".join(KERNEL.format(i=i) for i in range(1, 60)), encoding="utf-8")
    return path


def test_one_kernel_of_a_large_text_equals_that_of_the_whole(library, monkeypatch):
    whole = load_kernel(library, "sm_75", name="k7")
    monkeypatch.setattr(module, "WHOLE_PTX_BYTES", 100)
    alone = load_kernel(library, "sm_75", name="k7")
    assert alone.resources == whole.resources
    assert not alone.resources.assumed
    assert alone.ptx.instructions == whole.ptx.instructions
    assert [i.opcode for i in alone.sass.instructions] == [i.opcode for i in whole.sass.instructions]


def test_a_kernel_alone_keeps_the_lines_of_the_whole_text(library):
    whole = ptx.parse(library.read_text())
    alone = ptx.parse(ptx.text_of(whole, "k7"))
    assert list(alone.functions) == [f for f in whole.functions if f.name in ("twice", "k7")]
    same = [f for f in whole.functions if f.name in ("twice", "k7")]
    assert [first_line(f) for f in alone.functions] == [first_line(f) for f in same]


def first_line(function: Function) -> int:
    assert isinstance(function.body, Body)
    return function.body.first_line


def test_only_the_wanted_kernel_is_assembled(library, monkeypatch):
    seen = []
    original = compilation.assemble_ptx

    def spy(source, choice, options):
        seen.append(source.text.count(".entry"))
        return original(source, choice, options)

    monkeypatch.setattr(module, "WHOLE_PTX_BYTES", 100)
    monkeypatch.setattr(module, "assemble_ptx", spy)
    load_kernel(library, "sm_75", name="k9")
    assert seen == [1]
