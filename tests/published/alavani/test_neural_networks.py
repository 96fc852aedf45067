"""The neural networks: skipped, and said so, where PyTorch (extra ``ann``) is not installed."""

from __future__ import annotations

import numpy as np
import pytest

from warpwatt.lab.learn.errors import MissingPackageError, import_optional
from warpwatt.lab.learn.samples import load
from warpwatt.published.alavani.study import network
from warpwatt.published.alavani.study.network import schedule
from warpwatt.published.alavani.study.neural_networks import AnnRow, ann_rows, run

REASON = "PyTorch is not installed: pip install 'warpwatt[ann]'"


def test_schedules_fall_as_they_say():
    assert schedule("constant", 0.01, 0.5, 1)(1000) == 0.01
    assert schedule("exponential", 0.01, 0.9, 100)(200) == pytest.approx(0.0081)
    assert schedule("inverse time", 0.01, 0.5, 100)(400) == pytest.approx(0.01 / 3)
    with pytest.raises(ValueError, match="no schedule 'stairs'"):
        schedule("stairs", 1, 1, 1)


def test_all_rows_of_table_5_6_are_there():
    rows = ann_rows()
    assert sum(bool(row.published) for row in rows) == 7
    assert {row.features for row in rows} == {"selected", "vae", "auto"}
    assert {row.network.get("falls", "constant") for row in rows} == {
        "constant",
        "exponential",
        "inverse time",
    }


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("warpwatt.lab.learn.errors.import_module", missing)
    with pytest.raises(MissingPackageError) as caught:
        network.Network().fit(np.zeros((2, 1)), np.zeros(2))
    assert "warpwatt[ann]" in caught.value.hint
    with pytest.raises(MissingPackageError) as caught:
        import_optional("sklearn.svm")
    assert "warpwatt[learn]" in caught.value.hint


def test_a_network_learns_a_line():
    pytest.importorskip("torch", reason=REASON)
    x = np.linspace(0, 1, 32)[:, None]
    y = 50 + 30 * x[:, 0]
    net = network.Network(widths=(8, 8), epochs=60, standardise=True).fit(x, y, x, y)
    assert np.abs(net.predict(x) - y).mean() < 3
    assert len(net.losses) == 60
    assert net.losses[-1][0] < net.losses[0][0] / 4
    again = network.Network(widths=(8, 8), epochs=60, standardise=True).fit(x, y)
    assert np.array_equal(again.predict(x), net.predict(x))


def test_latent_features(table):
    pytest.importorskip("torch", reason=REASON)
    row = AnnRow("small", "vae", {"widths": [4]}, {"smaller": 3}, {})
    found = run(row, load(table), "smaller")
    assert len(found.per_fold) == 5
    assert len(found.losses) == 3
