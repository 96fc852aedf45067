"""Lines that a kernel claims for itself lead to no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.conftest import toy_program
from warpwatt.core.program import Kernel, Resources, SourceLine
from warpwatt.frontend.compiled import Source
from warpwatt.models.attribution import source_text
from warpwatt.server.tasks.isolation import own_lines


def test_only_the_source_keeps_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "elsewhere" / "secret.txt"
    secret.parent.mkdir()
    secret.write_text("secret\n" * 9)
    Path("own.cu").write_text("mine\n" * 9)
    lines = [
        SourceLine("own.cu", 3),
        SourceLine(str(secret), 3),
        SourceLine("elsewhere/secret.txt", 3, SourceLine("own.cu", 4, SourceLine(str(secret), 5))),
        SourceLine("./own.cu/../elsewhere/secret.txt", 2),
        SourceLine("..", 1),
    ]
    program = toy_program(2)
    program = replace(
        program,
        instructions=tuple(
            replace(i, line=line) for i, line in zip(program.instructions, lines, strict=True)
        ),
    )
    kernel = own_lines(Kernel("f", "f", "sm_90", Resources(1), ptx=program), Source("own.cu", b"mine\n" * 9))
    shown = []
    for instruction in kernel.program().instructions:
        line = instruction.line
        while line is not None:
            shown.append(source_text(line.file, line.line))
            line = line.inlined_at
    assert shown.count("mine") == 2
    assert set(shown) == {"mine", ""}
