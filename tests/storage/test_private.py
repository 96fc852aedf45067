"""Who may fill what is trusted: keys and folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpwatt.core.errors import InputError
from warpwatt.storage import cache
from warpwatt.storage.cache import Cache, digest
from warpwatt.storage.private import KEY_BYTES, _key, check_private


def test_the_key_is_made_once_and_only_its_user_may_read_it(tmp_path: Path):
    file = tmp_path / "state" / "cache.key"
    key = _key(file)
    assert len(key) == KEY_BYTES
    _key.cache_clear()
    assert _key(file) == key
    assert file.stat().st_mode & 0o077 == 0
    assert [one.name for one in file.parent.iterdir()] == ["cache.key"]


@pytest.mark.parametrize("spoil", [lambda f: f.chmod(0o644), lambda f: f.write_bytes(b"short")])
def test_a_key_that_others_may_know_is_not_used(tmp_path: Path, spoil):
    file = tmp_path / "cache.key"
    key = _key(file)
    spoil(file)
    _key.cache_clear()
    assert _key(file) not in (key, b"short")


def test_entries_of_another_key_are_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ours, key = Cache(tmp_path), digest(b"code")
    with monkeypatch.context() as other:
        other.setattr(cache, "user_key", lambda: b"somebody else's")
        ours.put(key, b"hostile")
        assert ours.get(key) == b"hostile"
    assert ours.get(key) is None


def test_a_folder_that_all_may_write_is_refused(tmp_path: Path):
    check_private(tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(InputError, match="written by every user") as told:
        check_private(tmp_path)
    assert "chmod o-w" in told.value.hint


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path):
    os.chown(tmp_path, 12345, 12345)
    with pytest.raises(InputError, match="belongs to another user"):
        check_private(tmp_path)
