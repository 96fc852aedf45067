"""The verb: without a GPU, without compilers, on a prepared folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from warpwatt.commands.measure import measure
from warpwatt.core.errors import DeviceError, InputError, ParseError, UnsupportedGpuError, UsageError
from warpwatt.lab.measure.choice import PointChoice
from warpwatt.lab.measure.columns import FILES, MICRO
from warpwatt.lab.measure.corpus import Corpus
from warpwatt.lab.measure.prepare import prepare
from warpwatt.lab.measure.prepared import EMPTY, INDEX, Prepared
from warpwatt.lab.measure.results import read
from warpwatt.lab.measure.runner import Options, run
from warpwatt.lab.measure.simulated import INFO, Behaviour

SOURCES = Path(__file__).parents[3] / "src"
ALLOWED = ("click", "numpy", "warpwatt")
"""What the GPU machine is sure to have of all that is imported on the way."""

BLOCKED = """
import sys
class Guard:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {allowed!r} and top not in sys.stdlib_module_names:
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Guard())
sys.argv = ["warpwatt", *{arguments!r}]
from warpwatt.commands.main import main
main()
"""


def blocked(*arguments, allowed=ALLOWED):
    code = BLOCKED.format(arguments=[str(a) for a in arguments], allowed=allowed)
    command = [sys.executable, "-S", "-c", code]
    # -S keeps site-packages out; the allowed packages come back by their folders
    import click
    import numpy as np

    places = {str(Path(m.__file__).parent.parent) for m in (click, np)}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), *sorted(places)])}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_simulated_campaign_imports_nothing_that_the_gpu_machine_lacks(corpus_folder, tmp_path):
    some = ("--only", "time ", "--only", "power ?*/*", "--only", "fp32_add_ilp1/latency")
    done = blocked("measure", "--corpus", corpus_folder, "--output", tmp_path, "--simulate", *some)
    assert (done.returncode, done.stderr) == (0, "")
    assert "22 points" in done.stdout
    assert len(read(tmp_path / "simulated-gpu" / "power.csv", FILES["power"])) == 12
    assert len(read(tmp_path / "simulated-gpu" / "micro.csv", MICRO)) == 1


def test_without_a_gpu_it_ends_with_3(corpus_folder, tmp_path):
    done = blocked("measure", "--corpus", corpus_folder, "--output", tmp_path / "out")
    assert done.returncode == 3
    assert "cuda-bindings is missing" in done.stderr
    assert "nvidia-ml-py" in done.stderr
    assert not (tmp_path / "out").exists()


def test_bad_options():
    runner = CliRunner()
    assert isinstance(runner.invoke(measure, ["--simulate"]).exception, UsageError)
    assert isinstance(runner.invoke(measure, ["--redo", "ok,bad"]).exception, InputError)
    assert runner.invoke(measure, ["--repeats", "31"]).exit_code == 2
    assert runner.invoke(measure, ["--power-seconds", "1.5"]).exit_code == 2
    assert runner.invoke(measure, ["--protocol", "speed"]).exit_code == 2


def test_budget_and_protocol(corpus_folder, tmp_path):
    folders = ["--corpus", str(corpus_folder), "--output", str(tmp_path), "--simulate"]
    done = CliRunner().invoke(measure, [*folders, "--protocol", "power", "--budget", "20"])
    assert "out of time" in done.output
    assert not (tmp_path / "simulated-gpu" / "time_cold.csv").exists()
    assert "\r" not in done.output  # no bar where there is no terminal
    done = CliRunner().invoke(measure, [*folders, "--protocol", "time", "--only", "set/small"])
    assert "1 points" in done.output


@pytest.fixture(scope="module")
def prepared(corpus_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    assert prepare(Corpus.load(corpus_folder), folder, "sm_90") == 3
    return folder


@pytest.mark.toolchain
def test_prepared_folder_holds_machine_code_and_parameters(prepared, corpus):
    read_back = Prepared.read(prepared)
    code = read_back.code(corpus.program("two"))
    assert code.cubin.startswith(b"\x7fELF")
    assert {k: [(p.source_name, p.type, p.size) for p in v] for k, v in code.parameters.items()} == {
        "first": [("n", "u32", 4), ("x", "u64", 8), ("y", "u64", 8)],
        "second": [("n", "u32", 4), ("a", "f32", 4), ("y", "u64", 8), ("z", "u64", 8)],
    }
    assert list(read_back.empty().parameters) == [EMPTY]
    assert read_back.toolkit


@pytest.mark.toolchain
def test_campaign_on_a_prepared_folder(prepared, corpus_folder, tmp_path):
    options = Options(corpus_folder, tmp_path, prepared, behaviour=Behaviour(), choice=PointChoice(("time",)))
    assert run(options).statuses["ok"] == 9
    (row, *_) = read(tmp_path / "simulated-gpu" / "time_cold.csv", FILES["time_cold"])
    assert (row["toolkit"], len(str(row["cubin"]))) == (Prepared.read(prepared).toolkit, 16)
    other = Behaviour(info=replace(INFO, target="sm_80"))
    with pytest.raises(UnsupportedGpuError, match="is for sm_90"):
        run(replace(options, behaviour=other))


@pytest.mark.toolchain
def test_what_changed_since_is_refused(corpus, prepared, tmp_path):
    for file in prepared.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    folder, program = Prepared.read(tmp_path), corpus.program("add")
    (tmp_path / "add.cubin").write_bytes(b"\x7fELF but another")
    with pytest.raises(ParseError, match="damaged"):
        folder.code(program)
    index = json.loads((tmp_path / INDEX).read_text(encoding="utf-8"))
    for change, message in (({"source": "0"}, "has changed"), (None, "is not prepared")):
        programs = {name: entry for name, entry in index["programs"].items() if change or name != "add"}
        if change:
            programs["add"] = {**programs["add"], **change}
        (tmp_path / INDEX).write_text(json.dumps({**index, "programs": programs}), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            Prepared.read(tmp_path).code(program)
    (tmp_path / INDEX).write_text("{}", encoding="utf-8")
    with pytest.raises(ParseError, match="another version"):
        Prepared.read(tmp_path)


@pytest.mark.toolchain
def test_programs_beyond_the_target_are_skipped_and_folders_not_overwritten(corpus, tmp_path):
    newer = Corpus(replace(p, least_target="sm_90") for p in corpus)
    assert prepare(newer, tmp_path / "a", "sm_80") == 0
    assert Prepared.read(tmp_path / "a").code(newer.program("add")) is None
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="something else"):
        prepare(newer, tmp_path / "b", "sm_80")


def test_device_errors_end_with_3():
    assert DeviceError("x").exit_code == 3
