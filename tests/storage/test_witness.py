from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from warpwatt.storage.inputs import ABSENT, state
from warpwatt.storage.witness import depends_on, inputs_told, loaded_code, witnessed

if TYPE_CHECKING:
    from pathlib import Path


def test_hears_what_is_read_and_what_is_missing(tmp_path: Path):
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.write_text("1")
    with witnessed() as witness:
        there.read_text()
        gone.exists()
        with suppress(OSError):
            gone.read_text()
        os.listdir(tmp_path)  # noqa: PTH208 - what is heard of
    known = {str(file): state(str(file)) for file in (there, tmp_path)}
    assert witness.inputs() == {**known, str(gone): ABSENT}
    assert witness.outputs() == {}


def test_the_state_is_the_one_before_reading(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("old")
    before = state(str(file))
    with witnessed() as witness:
        file.read_text()
        file.write_text("newer")
    assert witness.inputs() == {str(file): before} != {str(file): state(str(file))}


def test_tells_files_that_were_left(tmp_path: Path):
    with witnessed(str(tmp_path / "private")) as witness:
        (tmp_path / "left").write_bytes(b"\xff\0")
        (tmp_path / "private").mkdir()
        (tmp_path / "private" / "kept").write_text("does not count")
    assert witness.outputs() == {str(tmp_path / "left"): b"\xff\0"}
    assert witness.inputs() == {}


def test_another_process_makes_blind_unless_its_inputs_are_told(tmp_path: Path):
    header = tmp_path / "header"
    header.write_text("1")
    with witnessed() as witness, inputs_told():
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
        depends_on(str(header))
    assert witness.outputs() == {}
    assert str(header) in witness.inputs()
    with witnessed() as blind:
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    assert blind.outputs() is None


def test_code_is_every_module_of_ours():
    code = set(loaded_code())
    assert sys.modules["warpwatt.storage.witness"].__file__ in code
    assert sys.modules["pytest"].__file__ in code
    assert subprocess.__file__ not in code
