from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import InputError
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.source import Kind, kind_of, read_source

CUDA = b"__global__ void k() {}"
PTX = b"//\n// Generated\n//\n\n.version 8.4\n.target sm_90\n"


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("k.cu", CUDA, Kind.CUDA),
        ("k.cu", b"int main() {}", Kind.CUDA),
        ("k.cpp", CUDA, Kind.CUDA),
        ("k", CUDA, Kind.CUDA),
        ("k.cu", PTX, Kind.PTX),
        ("k.txt", PTX, Kind.PTX),
        ("k.ptx", b"/* c */ .version 1.4", Kind.PTX),
        ("k.cu", b"\x7fELF\2", Kind.BINARY),
        ("k.ptx", b"\x50\xed\x55\xba\1\0", Kind.BINARY),
        ("k.a", b"!<arch>\n", Kind.BINARY),
    ],
)
def test_content_decides(name: str, data: bytes, kind: Kind):
    assert kind_of(Source(name, data, Path(name))) is kind


@pytest.mark.parametrize(
    ("name", "data"),
    [("k.cpp", b"int main() {}"), ("k.ptx", CUDA), ("k.txt", b"hello"), ("k.cu", b"\0\1\2"), ("k.py", CUDA)],
)
def test_what_it_cannot_be_is_refused(name: str, data: bytes):
    with pytest.raises(InputError) as caught:
        kind_of(Source(name, data, Path(name)))
    assert caught.value.file == name


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([".cu", ".ptx", ".cubin", ""]))
def test_any_bytes_are_told_apart(data: bytes, suffix: str):
    try:
        assert kind_of(Source("k", data, Path("k" + suffix))) in Kind
    except InputError as error:
        assert error.message  # noqa: PT017 - both outcomes are right


def test_reads_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(CUDA)))
    assert read_source("-") == Source("<stdin>", CUDA)
    assert kind_of(Source("<stdin>", CUDA)) is Kind.CUDA


@pytest.mark.parametrize("content", [None, b"", b"  \n"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None):
    file = tmp_path / "k.cu"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_source(file)
    assert caught.value.file == str(file)
    with pytest.raises(InputError, match="directory"):
        read_source(tmp_path)
