"""The component model with its learned part: what it changes adds up, and it says where it knows nothing."""

import math
from dataclasses import replace

import numpy as np
import pytest

from warpwatt.models.component import Component
from warpwatt.models.learned import ComponentLearned
from warpwatt.models.learned import model as learned
from warpwatt.models.registry import power_model, power_models
from warpwatt.models.roofline import Roofline

KNOWN = "Tesla V100 PCIe 16GB"


def both(case):
    """Return what the component model says, and what it says with the learned part."""
    timing = Roofline().predict(case)
    return Component().predict(case, timing), ComponentLearned().predict(case, timing)


@pytest.fixture
def everywhere(monkeypatch):
    """The shipped model with a range of training that holds any case."""
    wide = np.full(len(learned.shipped_model().features), 1e30)
    open_model = replace(learned.shipped_model(), low=-wide, high=wide)
    monkeypatch.setattr(learned, "shipped_model", lambda: open_model)


def test_it_is_registered():
    assert "component+learned" in power_models()
    assert isinstance(power_model("component+learned"), ComponentLearned)


@pytest.mark.parametrize("fmas", [1, 30, 300])
def test_what_it_changes_adds_up(toy, everywhere, fmas):
    plain, changed = both(toy.case(toy.execution(fmas=fmas), KNOWN))
    assert changed.power.value != plain.power.value
    assert math.fsum(changed.components.values()) == pytest.approx(changed.power.value)
    assert math.fsum(changed.reasons().values()) == pytest.approx(changed.power.value - plain.power.value)
    assert changed.power.low < changed.power.value < changed.power.high
    assert changed.shares == plain.shares
    assert not changed.warnings


def test_of_an_unmeasured_gpu_it_says_nothing(toy, everywhere):
    plain, changed = both(toy.case(gpu="h200"))
    assert changed.power == plain.power
    assert changed.reasons is None
    assert "nothing was learned of NVIDIA H200" in changed.warnings[0]


def test_outside_the_range_of_training_it_says_nothing(toy, monkeypatch):
    narrow = replace(learned.shipped_model(), high=learned.shipped_model().low)
    monkeypatch.setattr(learned, "shipped_model", lambda: narrow)
    plain, changed = both(toy.case(toy.execution(fmas=30), KNOWN))
    assert changed.power == plain.power
    assert "outside what was learned" in changed.warnings[0]


def test_the_card_says_what_it_was_trained_on_and_how_good_it_is():
    card = learned.shipped_model().card
    assert KNOWN in card["data"]["gpus"]
    for figures in card["figures"].values():
        assert {"component", "component+learned", "constant"} <= figures.keys()


def test_the_factor_stays_within_what_boosting_can_learn(toy, everywhere):
    """Trees cannot extrapolate: whatever the case, the factor stays moderate."""
    for fmas in (0, 1, 10, 100, 1000):
        plain, changed = both(toy.case(toy.execution(fmas=fmas), KNOWN))
        assert 0.5 < changed.power.value / plain.power.value < 2.0
