"""Where files of this user are kept."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from warpwatt.core.folders import cache_directory, user_folder


@pytest.mark.parametrize("kind", ["cache", "state", "config"])
def test_folders_are_those_of_the_system(kind, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        platformdirs, f"user_{kind}_path", lambda name, appauthor: Path(f"/x/{name}/{appauthor}")
    )
    assert user_folder(kind) == Path("/x/warpwatt/False")


def test_the_cache_is_where_its_variable_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", "/kept/here")
    assert cache_directory() == Path("/kept/here")
