from __future__ import annotations

import sys

import pytest

from warpwatt.session import first_run


@pytest.mark.parametrize(("watched", "compiled", "told"), [(1, 0, 1), (1, 1, 0), (0, 0, 0)])
def test_who_waits_is_told_why(monkeypatch, watched, compiled, told):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: bool(watched), raising=False)
    monkeypatch.setattr(first_run, "compiled", lambda: bool(compiled))
    heard: list[str] = []
    first_run.announce(heard.append)
    assert len(heard) == told


def test_an_empty_cache_has_nothing_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path))
    assert not first_run.compiled()
