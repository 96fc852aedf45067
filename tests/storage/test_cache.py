from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import InputError
from warpwatt.storage.cache import MAGIC, TEMPORARY, Cache, default_cache, digest, parse_size

if TYPE_CHECKING:
    from pathlib import Path

KEY = digest(b"key")


def test_returns_what_was_stored(tmp_path: Path):
    cache = Cache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(KEY, b"\0payload\n")
    assert cache.get(KEY) == b"\0payload\n"
    cache.put(KEY, b"other")
    assert cache.get(KEY) == b"other"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_damaged_entry_is_a_miss(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    cache = Cache(tmp_path_factory.mktemp("damaged"))
    cache.put(KEY, bytes(range(200)))
    (file,) = cache.folder.glob("??/*")
    content = bytearray(file.read_bytes())
    if data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    else:
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    file.write_bytes(content)
    assert cache.get(KEY) is None
    assert not file.exists()
    cache.put(KEY, b"mended")
    assert cache.get(KEY) == b"mended"


def test_stays_within_its_limit_and_drops_the_least_recently_used(tmp_path: Path):
    entry = len(MAGIC) + 20 + 1000
    cache = Cache(tmp_path, limit=5 * entry)
    keys = [digest(bytes([number])) for number in range(6)]
    for age, key in enumerate(keys[:5]):
        cache.put(key, bytes(1000))
        os.utime(cache._file(key), (1000 + age, 1000 + age))
    assert cache.get(keys[0]) is not None  # reading makes it the most recent
    cache.put(keys[5], bytes(1000))
    assert cache.size() == 5 * entry
    assert [cache.get(key) is not None for key in keys] == [True, False, True, True, True, True]


def test_an_entry_over_the_limit_is_not_stored(tmp_path: Path):
    cache = Cache(tmp_path, limit=100)
    cache.put(KEY, bytes(100))
    assert cache.size() == 0


def test_remains_of_killed_writers_go(tmp_path: Path):
    cache = Cache(tmp_path)
    cache.put(KEY, b"good")
    folder = cache._file(KEY).parent
    old, new = folder / f"{TEMPORARY}old", folder / f"{TEMPORARY}new"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (1, 1))
    cache.evict()
    assert not old.exists()
    assert new.exists()
    assert cache.get(KEY) == b"good"


def test_a_folder_that_cannot_be_written_is_only_slow(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file")
    cache.put(KEY, b"lost")
    assert cache.get(KEY) is None


WORKER = """
import os, random, sys
from pathlib import Path
from warpwatt.storage.cache import Cache, digest
cache, rng = Cache(Path(sys.argv[1]), limit=200_000), random.Random(int(sys.argv[2]))
while True:
    number = rng.randrange(40)
    key, content = digest(bytes([number])), bytes([number]) * rng.randrange(1, 20_000)
    found = cache.get(key)
    if found is not None and (not found or set(found) != {number}):
        print("wrong content", flush=True)
        os._exit(7)
    cache.put(key, content)
"""


def test_eight_processes_and_kills_leave_only_good_entries(tmp_path: Path):
    workers = [_worker(tmp_path, seed) for seed in range(8)]
    end, seed = time.time() + 4.0, 8
    while time.time() < end:  # kill one in the middle of its work, start another
        time.sleep(0.2)
        victim = workers.pop(0)
        assert victim.poll() is None, victim.communicate()
        victim.kill()
        victim.communicate()
        workers.append(_worker(tmp_path, seed := seed + 1))
    for worker in workers:
        assert worker.poll() is None, worker.communicate()
        worker.kill()
        worker.communicate()
    cache = Cache(tmp_path, limit=200_000)
    assert any(cache.get(digest(bytes([number]))) for number in range(40))
    assert all(set(cache.get(digest(bytes([n]))) or bytes([n])) == {n} for n in range(40))
    cache.evict()
    assert cache.size() <= cache.limit


def _worker(folder: Path, seed: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKER, str(folder), str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_readers_survive_eviction_by_others(tmp_path: Path):
    cache, errors, done = Cache(tmp_path, limit=3000), [], threading.Event()

    def write() -> None:
        for number in range(300):
            cache.put(digest(bytes([number % 50])), bytes([number % 50]) * 900)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        for number in range(50):
            found = cache.get(digest(bytes([number])))
            if found not in (None, bytes([number]) * 900):
                errors.append(number)
    writer.join()
    assert not errors


def test_readers_never_miss_what_is_only_rewritten(tmp_path: Path):
    cache, done = Cache(tmp_path), threading.Event()
    cache.put(KEY, bytes(4_000_000))

    def write() -> None:
        for _ in range(40):
            cache.put(KEY, bytes(4_000_000))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    misses = 0
    while not done.is_set():
        misses += cache.get(KEY) is None
    writer.join()
    assert misses == 0


def test_environment_sets_folder_and_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("WARPWATT_CACHE_SIZE", "2K")
    assert default_cache() == Cache(tmp_path / "compiled", 2048)
    monkeypatch.setenv("WARPWATT_CACHE_SIZE", "0")
    default_cache().put(KEY, b"x")
    assert default_cache().get(KEY) is None


@pytest.mark.parametrize("text", ["", "x", "-1", "1X", "1e3"])
def test_refuses_sizes_it_cannot_read(text: str):
    with pytest.raises(InputError, match="not a size"):
        parse_size(text)
