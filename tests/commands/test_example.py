"""``warpwatt example``: what it lists and writes is what a newcomer can run."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_list_names_every_file_and_says_what_it_is(run):
    code, out, _ = run("example")
    listed = dict(line.split(maxsplit=1) for line in out.partition("\n\n")[0].splitlines())
    assert code == 0
    assert set(listed) == {file.name for file in EXAMPLES.iterdir() if file.is_file()}
    assert listed["saxpy.cu"].startswith("y = a · x + y: ")


def test_a_written_example_is_the_shipped_one_and_is_never_overwritten_unasked(run, tmp_path):
    assert run("example", "saxpy", "reduce.cu", "-o", tmp_path)[1].splitlines() == [
        f"wrote {tmp_path / name}" for name in ("saxpy.cu", "reduce.cu")
    ]
    assert (tmp_path / "saxpy.cu").read_bytes() == (EXAMPLES / "saxpy.cu").read_bytes()
    code, _, error = run("example", "stencil", "saxpy", "-o", tmp_path)
    assert code == 1
    assert "--force overwrites" in error
    assert not (tmp_path / "stencil.cu").exists()
    assert run("example", "saxpy", "-o", tmp_path, "--force")[0] == 0


def test_an_unknown_example_names_those_there_are(run):
    code, _, error = run("example", "nope")
    assert code == 1
    assert "saxpy.cu, matmul.cu" in error
