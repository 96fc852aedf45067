"""Every test of the functional engine runs on steps that are interpreted, and on machine code."""

from __future__ import annotations

import pytest

from warpwatt.emulate.functional import engine


@pytest.fixture(autouse=True, params=["steps", "machine code"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which of them runs; steps go over to machine code where it is worth its while."""
    if request.param == "machine code":
        monkeypatch.setattr(engine, "written", lambda _routine, record: None)
    return request.param
