"""What stands in where a launch cannot be followed."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.emulate.caches import kernels
from warpwatt.compose import Choice
from warpwatt.core.errors import InputError
from warpwatt.core.program import Level
from warpwatt.emulate.analysis import PTX_INSTEAD
from warpwatt.gpus import find
from warpwatt.render.run.text import without
from warpwatt.run import predictions


def test_ptx_that_stands_for_machine_code_is_named(monkeypatch):
    def analyse(kernel, launch, choice, load):
        if choice.level is not Level.PTX:
            raise InputError("threads wait for others that never come")
        return kernels.copy(2).execution()

    monkeypatch.setattr(predictions, "analyse", analyse)
    predictor: Any = SimpleNamespace(choice=Choice())
    kernel: Any = SimpleNamespace(ptx=1)
    found = predictions.Predictor._analyse(predictor, kernel, kernel, kernel)
    assert [assumption.parameter for assumption in found.assumptions] == [PTX_INSTEAD]


@pytest.mark.parametrize("error", [OverflowError("too large"), InputError("no code", hint="recompile")])
def test_whatever_a_prediction_fails_by_is_the_reason_of_its_launch(error):
    def kernel(name, target):
        raise error

    request: Any = SimpleNamespace(kernel="k", key=(1,), function=1)
    module: Any = SimpleNamespace(kernel=kernel)
    gpus = [find("t4"), find("h200")]
    predictor = predictions.Predictor(gpus, Choice(), [None, None], arena=None, allocations=None, budget=9.0)
    found = predictor.predict(module, request, {})
    assert found.predictions == (None, None)
    assert all(gpu.name in why and str(error) in why for gpu, why in zip(gpus, found.failures, strict=True))
    assert predictor.steering(module, request) == frozenset()


def test_sums_say_without_how_many_launches_they_are():
    whole: Any = SimpleNamespace(not_predicted=0)
    partly: Any = SimpleNamespace(not_predicted=2)
    assert (without(whole), without(partly)) == ("", ", all sums without 2 launches not predicted")
