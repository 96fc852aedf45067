"""Sources at commits: a real repository, with a header that changes and one that git does not know."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from warpwatt.core.errors import InputError
from warpwatt.request.commits import checkout, parse_range

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "include").mkdir()

    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *words], cwd=root, capture_output=True, text=True, check=True)
        return done.stdout

    def commit(factor: int) -> None:
        (root / "src" / "k.cu").write_text(f'#include "k.h"\n#include <deep.h>\nint f = {factor};\n')
        (root / "src" / "k.h").write_text(f'#include "../include/inner.h"\nint g = {factor};\n')
        (root / "include" / "inner.h").write_text(f"int h = {factor};\n")
        (root / "include" / "deep.h").write_text(f"int d = {factor};\n")
        git("add", "-A")
        git("commit", "-qm", f"factor {factor}")

    git("init", "-q")
    commit(1)
    commit(2)
    return root


def test_a_commit_brings_its_own_headers(repository):
    found = checkout(repository / "src" / "k.cu", "HEAD~1", [str(repository / "include")])
    assert b"f = 1" in found.source.data
    header = found.source.path.parent / "k.h"
    assert "g = 1" in header.read_text()
    assert "h = 1" in (header.parent / "../include/inner.h").resolve().read_text()
    folder = found.include[0]
    assert "d = 1" in (found.source.path.parents[1] / "include" / "deep.h").read_text()
    assert folder.endswith("include")
    assert not found.remarks
    assert found.names[str(found.source.path)] == "src/k.cu"


def test_what_the_commit_lacks_is_told(repository):
    (repository / "src" / "k.cu").write_text('#include "generated.h"\n')
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", repository, *who, "commit", "-qam", "x"], check=True)
    (repository / "src" / "generated.h").write_text("int x;\n")
    found = checkout(repository / "src" / "k.cu", "HEAD")
    assert "generated.h" in found.remarks[0]
    assert str(repository / "src") in found.include


def test_now_is_the_file_as_it_is(repository):
    (repository / "src" / "k.cu").write_text("int now;\n")
    found = checkout(repository / "src" / "k.cu", "")
    assert (found.source.data, found.label) == (b"int now;\n", "now")


@pytest.mark.parametrize("revision", ["nothing", "--help", "-n1", "HEAD~99", "HEAD:src"])
def test_no_commit_is_an_error_never_an_option_of_git(repository, revision):
    with pytest.raises(InputError, match="no commit"):
        checkout(repository / "src" / "k.cu", revision)


def test_a_file_that_the_commit_does_not_hold(repository):
    (repository / "src" / "new.cu").write_text("int x;\n")
    with pytest.raises(InputError, match="not in commit HEAD"):
        checkout(repository / "src" / "new.cu", "HEAD")


def test_no_repository(tmp_path):
    (tmp_path / "k.cu").write_text("int x;\n")
    with pytest.raises(InputError, match="not in a git repository"):
        checkout(tmp_path / "k.cu", "HEAD")


@pytest.mark.parametrize("text", ["", "..B", "A..B..C", "A...B"])
def test_ranges_that_are_none(text):
    with pytest.raises(InputError, match="not two commits"):
        parse_range(text)


def test_a_hostile_configuration_runs_nothing(repository):
    """A missing blob would be fetched by the command that the repository's own configuration names."""
    mark = repository.parent / "it-ran"

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=repository, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    blob = git("rev-parse", "HEAD:src/k.cu")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.url": str(repository),
        "remote.evil.promisor": "true",
        "remote.evil.uploadpack": f"touch {mark}; git-upload-pack",
        "protocol.file.allow": "always",
    }.items():
        git("config", key, value)
    with pytest.raises(InputError):
        checkout(repository / "src" / "k.cu", "HEAD")
    assert not mark.exists()
