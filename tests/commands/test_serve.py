"""``warpwatt serve`` before it listens: whom it answers on which system."""

from __future__ import annotations

import pytest

from warpwatt.workers import confinement


@pytest.fixture
def served(monkeypatch):
    """Nothing is served; the hosts that would have been."""
    hosts: list[str] = []
    monkeypatch.setattr("warpwatt.server.web.run.serve", lambda settings, _: hosts.append(settings.host))
    return hosts


@pytest.mark.parametrize(("host", "words"), [("127.0.0.1", []), ("0.0.0.0", ["--without-walls"])])
def test_a_system_without_walls_is_warned_of(run, served, monkeypatch, host, words):
    monkeypatch.setattr(confinement, "landlock_version", lambda: 0)
    code, _, err = run("serve", "--host", host, "--allow-remote", *words)
    assert "warning: this system lacks Landlock" in err
    assert (code, served) == (0, [host])


def test_without_walls_other_machines_are_not_answered(run, served, monkeypatch):
    monkeypatch.setattr(confinement, "filters_system_calls", lambda: False)
    code, _, err = run("serve", "--host", "0.0.0.0", "--allow-remote")
    assert "lacks seccomp filters" in err
    assert "--without-walls" in err
    assert (code, served) == (3, [])


def test_walls_can_be_required_on_this_machine_too(run, served, monkeypatch):
    monkeypatch.setattr(confinement, "landlock_version", lambda: 0)
    assert run("serve", "--require-walls")[0] == 3
    assert served == []
