"""The corpus is consistent, compiles, and computes what its references say (a sample; all: validation)."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import pytest
from validation.corpus.check import check

from tests.corpus.on_cpu import compiler
from warpwatt.frontend.load import load
from warpwatt.lab.measure.corpus import Corpus, load_module
from warpwatt.lab.measure.inputs import make_inputs

CORPUS = Corpus.load(Path(__file__).parent.parent.parent / "corpus")
SAMPLE = random.Random(2).sample(CORPUS, min(12, len(CORPUS)))
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")


def names(programs):
    return [program.name for program in programs]


@pytest.mark.parametrize("program", CORPUS, ids=names(CORPUS))
def test_manifest_is_consistent(program):
    assert program.source.parent.name == program.dwarf.replace(" ", "_").replace("-", "_")
    assert program.least_target in TARGETS
    assert "tiny" in names(program.sizes)
    assert len(program.sizes) >= 4
    assert callable(load_module(program).reference)
    tiny = program.size("tiny")
    assert sum(one.launch.threads * one.launch.repeats for one in tiny.launches) <= 400_000
    used = {name for size in program.sizes for one in size.launches for name in one.buffers.values()}
    assert used == {name for name, value in tiny.arguments.items() if hasattr(value, "dtype")}


def test_families_are_small_and_on_one_side_of_the_split():
    families = defaultdict(list)
    for program in CORPUS:
        families[program.family].append(program)
    assert {family: len(members) for family, members in families.items() if len(members) > 8} == {}
    assert {family for family, members in families.items() if len({p.split for p in members}) > 1} == set()


@pytest.mark.parametrize("program", SAMPLE, ids=names(SAMPLE))
def test_result_is_the_references(program):
    if compiler() is None:
        pytest.skip("g++ is missing: the corpus cannot be run on the CPU")
    assert check(program, orders=(1,)) == []


@pytest.mark.parametrize("program", SAMPLE, ids=names(SAMPLE))
def test_inputs_are_the_same_again(program):
    first, second = (make_inputs(program, "tiny") for _ in range(2))
    assert all((first[name] == second[name]).all() for name in first if hasattr(first[name], "shape"))


@pytest.mark.toolchain
@pytest.mark.parametrize("program", SAMPLE[:6], ids=names(SAMPLE[:6]))
def test_kernels_compile_with_the_parameters_that_the_manifest_passes(program):
    target = max(program.least_target, "sm_80", key=lambda name: int(name.removeprefix("sm_")))
    parameters = {k.name: {p.source_name for p in k.ptx.parameters} for k in load(program.source, target)}
    for one in program.size("tiny").launches:
        assert parameters[one.kernel] <= set(one.launch.arguments)
