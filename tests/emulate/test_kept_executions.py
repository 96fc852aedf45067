"""What launches do is found out once, and again when anything that it depends on is another."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import toy_execution
from warpwatt.core.launch import Dim3
from warpwatt.emulate import kept_executions
from warpwatt.emulate.kept_executions import kept_or
from warpwatt.storage.cache import execution_cache
from warpwatt.storage.witness import witnessed


@pytest.fixture
def execution():
    return toy_execution()


@pytest.fixture
def found_out(monkeypatch, tmp_path, execution):
    """Return a function that asks, and the launches that were found out."""
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kept_executions, "WORTH_SECONDS", 0.0)
    made = []

    def ask(program=execution.program, launch=execution.launch, loop_counts=(), contents=()):
        def find_out():
            made.append(launch)
            return replace(execution, launch=launch)

        return kept_or(find_out, (program,), launch, loop_counts, contents)

    return ask, made


def test_the_same_is_found_out_once(found_out, execution):
    ask, made = found_out
    fresh, kept = ask(), ask()
    assert len(made) == 1
    assert kept is not fresh
    assert (kept.counts, kept.lanes, kept.accesses) == (execution.counts, execution.lanes, execution.accesses)
    assert execution_cache().count() == 1


def test_whatever_it_depends_on_counts(found_out, execution, tmp_path):
    ask, made = found_out
    ask()
    ask(launch=replace(execution.launch, grid=Dim3(7)))
    ask(program=replace(execution.program, name="another"))
    ask(loop_counts=((3, 2.0),))
    ask(contents=((str(tmp_path / "x.npy"), 1, 8),))
    ask(contents=((str(tmp_path / "x.npy"), 2, 8),))
    assert len(made) == 6


def test_other_code_finds_out_anew(found_out, monkeypatch):
    ask, made = found_out
    ask()
    monkeypatch.setattr(kept_executions, "package_state", lambda *_: "edited")
    ask()
    assert len(made) == 2


def test_an_answer_made_of_it_depends_on_the_code_that_found_it_out(found_out):
    ask, _ = found_out
    ask()
    with witnessed() as witness:
        ask()
    assert any(path.endswith("emulate/emulation.py") for path in witness.inputs())


def test_what_is_quickly_found_out_is_not_kept(found_out, monkeypatch):
    ask, made = found_out
    monkeypatch.setattr(kept_executions, "WORTH_SECONDS", 60.0)
    ask()
    ask()
    assert len(made) == 2


def test_arrays_are_written_narrow_and_read_as_they_were():
    found = {
        "small": np.arange(-4000, 4000).reshape(-1, 2),
        "large": np.arange(4000) * 2**33,
        "whole": np.linspace(0, 1000, 1001),
        "broken": np.linspace(0, 1, 1001),
        "none": np.array([np.nan, np.inf]),
        "bytes": np.arange(-128.0, 128.0),
        "no longer bytes": np.arange(2000) // 15,
        "less than nothing": np.array([0.0, -0.0, 1.0]),
        "one": np.array(3.0),
        "numbers": np.arange(300, dtype=np.int32),
    }
    payload = kept_executions._dumped(found)
    read = kept_executions._loaded(payload)
    assert len(payload) < 0.6 * len(pickle.dumps(found))
    assert all(read[name].dtype == value.dtype for name, value in found.items())
    assert all(read[name].tobytes() == value.tobytes() for name, value in found.items())


def test_instructions_that_readers_have_are_left_out(execution):
    program = execution.program
    payload = kept_executions._dumped(execution, (program,))
    assert len(payload) < len(kept_executions._dumped(execution))
    read = kept_executions._loaded(payload, (program,))
    assert read.program is not program
    assert all(a is b for a, b in zip(read.program.instructions, program.instructions, strict=True))
    assert repr(replace(read, program=program)) == repr(execution)


def test_functions_that_call_themselves_and_each_other_are_kept_too(execution):
    def calling(name, functions):
        own = tuple(replace(i, opcode=f"{name}.{i.opcode}") for i in execution.program.instructions)
        return replace(execution.program, name=name, instructions=own, functions=functions)

    called = {}
    called |= {"odd": calling("odd", called), "even": calling("even", called)}
    program = calling("kernel", called)
    found = replace(execution, program=program)
    read = kept_executions._loaded(kept_executions._dumped(found, (program,)), (program,))
    for name, function in called.items():
        own = read.program.functions[name].instructions
        assert all(a is b for a, b in zip(own, function.instructions, strict=True))
