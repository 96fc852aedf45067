"""The comment on a pull request, from an event as GitHub writes it and a repository of two commits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.commands.test_rank import COPY
from warpwatt.core.errors import InputError
from warpwatt.integrations.github_action import MARK, base_commit, main

LAUNCH = "// warpwatt: --grid 4096 --block 256 --arg x=f32[8388608]\n"


def git(*words):
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *author, *words], check=True, capture_output=True, text=True).stdout.strip()


def test_a_slower_kernel_is_told_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    for name in ("copy.ptx", "same.ptx"):
        Path(name).write_text(LAUNCH + COPY.format(stride=4))
    Path("quiet.ptx").write_text(COPY.format(stride=4))
    git("add", ".")
    git("commit", "-qm", "before")
    base = git("rev-parse", "HEAD")
    Path("copy.ptx").write_text(LAUNCH + COPY.format(stride=32))
    Path("quiet.ptx").write_text(COPY.format(stride=32))
    git("commit", "-qam", "after")
    Path("event.json").write_text(json.dumps({"number": 1, "pull_request": {"base": {"sha": base}}}))
    main(["--event", "event.json", "--gpu", "a100", "-o", "comment.md"])
    text = Path("comment.md").read_text()
    assert text.startswith(MARK)
    assert "**copy.ptx**" in text
    assert "same.ptx" not in text
    assert "quiet.ptx" not in text
    (row,) = (line for line in text.splitlines() if line.startswith("| `copy`"))
    assert "NVIDIA A100-SXM4-40GB" in row
    assert "slower" in row


def test_another_event_is_refused():
    with pytest.raises(InputError, match="pull request"):
        base_commit({"push": {}})
