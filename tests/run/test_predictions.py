"""What stands in where a launch cannot be followed."""

from types import SimpleNamespace
from typing import Any

from tests.emulate.caches import kernels
from warpwatt.compose import Choice
from warpwatt.core.errors import InputError
from warpwatt.core.program import Level
from warpwatt.emulate.analysis import PTX_INSTEAD
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
