from __future__ import annotations

from pathlib import Path

import pytest

from warpwatt.frontend.messages import compile_error, errors, hint_of


@pytest.mark.parametrize(
    ("line", "file", "number", "text"),
    [
        ('a.cu(3): error: identifier "x" is undefined', "a.cu", 3, 'identifier "x" is undefined'),
        ("my file.cu(12): catastrophic error: out of memory", "my file.cu", 12, "out of memory"),
        (
            "a.cu:2:10: fatal error: q.h: No such file or directory",
            "a.cu",
            2,
            "q.h: No such file or directory",
        ),
        ("ptxas a.ptx, line 80; error   : Not a name", "a.ptx", 80, "Not a name"),
        ("nvcc fatal   : Unknown option '-x'", "", None, "Unknown option '-x'"),
    ],
)
def test_reads_every_compilers_style(line: str, file: str, number: int | None, text: str):
    (message,) = errors(line)
    assert (message.file, message.line, message.text) == (file, number, text)


@pytest.mark.parametrize(
    "line", ["a.cu(3): warning #1-D: x", "ptxas info : 0 bytes gmem", "int error = 3;", ""]
)
def test_other_lines_are_no_errors(line: str):
    assert errors(line) == ()


def test_error_names_the_first_place_and_keeps_all_lines():
    output = "a.cu(3): error: first\n  x\n  ^\na.cu(9): error: second\nptxas info    : noise\n"
    error = compile_error(output, "nvcc", "sm_90", file=str(Path("a.cu")))
    assert str(error) == "a.cu:3: nvcc for sm_90: first (and 1 more errors)"
    assert error.details == "a.cu(3): error: first\n  x\n  ^\na.cu(9): error: second"


def test_hints_name_the_flag():
    assert (
        "-I"
        in compile_error("a.cu:1:1: fatal error: h: No such file or directory", "nvcc", "sm_90", file="").hint
    )
    assert (
        "--toolkit 11.8"
        in compile_error("a.cu(1): error: texture is not a template", "nvcc", "sm_90", file="").hint
    )
    feature = "ptxas a.ptx, line 1; error : Instruction 'wgmma' not supported on .target 'sm_90'"
    assert "-arch=sm_90a" in compile_error(feature, "nvcc", "sm_90", file="a.cu").hint


def test_a_header_that_is_near_the_source_is_named_with_its_flag(tmp_path, monkeypatch):
    source = tmp_path / "src" / "cuda"
    source.mkdir(parents=True)
    (tmp_path / "include" / "mine").mkdir(parents=True)
    (tmp_path / "include" / "mine" / "timer.h").touch()
    monkeypatch.chdir(source)
    said = "a.cu:4:10: fatal error: mine/timer.h: No such file or directory"
    assert hint_of(said, folder=source) == "add -I../../include, where it is"
    assert "-I DIR" in hint_of(said.replace("timer.h", "other.h"), folder=source)
    (source / ".git").touch()  # what is beyond a repository is none of its headers
    assert "-I DIR" in hint_of(said, folder=source)
