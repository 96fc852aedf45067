"""Where files of this user are kept."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from warpwatt.core import folders
from warpwatt.core.folders import cache_directory, user_folder


@pytest.mark.parametrize("kind", ["cache", "state", "config"])
@pytest.mark.parametrize("said", [None, "", "/elsewhere", "relative/folder", "~/folder", " "])
@pytest.mark.parametrize("home", ["/home/somebody", None])
def test_folders_are_those_of_platformdirs(kind, said, home, monkeypatch: pytest.MonkeyPatch):
    for name, value in ((f"XDG_{kind.upper()}_HOME", said), ("HOME", home)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    theirs = getattr(platformdirs, f"user_{kind}_path")("warpwatt", appauthor=False)
    assert user_folder(kind) == theirs


def test_a_system_without_xdg_is_asked_about_through_platformdirs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(folders, "_HAS_XDG", False)
    monkeypatch.setattr(
        platformdirs, "user_state_path", lambda name, appauthor: Path(f"/x/{name}/{appauthor}")
    )
    assert user_folder("state") == Path("/x/warpwatt/False")


def test_the_cache_is_where_its_variable_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", "/kept/here")
    assert cache_directory() == Path("/kept/here")
