"""SimGrid: where it is looked for, and what it makes of a platform file."""

from __future__ import annotations

import sys

import pytest

from warpwatt.published.boughzala import simgrid


@pytest.fixture(autouse=True)
def _forget():
    simgrid.interpreter.cache_clear()
    yield
    simgrid.interpreter.cache_clear()


def test_it_is_found_where_pythonpath_has_it(tmp_path, monkeypatch):
    """Isolated Python (-I) would not see it; nor may this room's simgrid.py pass for it."""
    monkeypatch.setenv(simgrid.VARIABLE, sys.executable)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    bare = simgrid.interpreter()
    (tmp_path / "simgrid.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    simgrid.interpreter.cache_clear()
    assert simgrid.interpreter() == sys.executable
    assert bare in (None, sys.executable)


def test_our_own_python_comes_first(tmp_path, monkeypatch):
    monkeypatch.delenv(simgrid.VARIABLE, raising=False)
    (tmp_path / "simgrid.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert simgrid.interpreter() == sys.executable
