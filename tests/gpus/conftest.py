"""Tests never see the GPU files of whoever runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _no_user_files(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.delenv("WARPWATT_GPUS", raising=False)


@pytest.fixture
def user_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the user's own GPU files."""
    folder = tmp_path / "gpus"
    folder.mkdir()
    monkeypatch.setenv("WARPWATT_GPUS", str(folder))
    return folder
