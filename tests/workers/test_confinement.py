"""Behind the walls: what a worker cannot do even if it wanted to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

from warpwatt.workers.confinement import landlock_version
from warpwatt.workers.process import only_needed_environment
from warpwatt.workers.seccomp import filters_system_calls

PROLOGUE = """
import json, os, socket, subprocess, sys, signal
from pathlib import Path
from warpwatt.server.tasks.isolation import reach
from warpwatt.workers.confinement import confine
from warpwatt.workers.limits import Limits

folder, secret = map(Path, sys.argv[1:])
confine(reach(folder), Limits(seconds=2), 1)

def attempt(what):
    try:
        what()
    except Exception as error:
        return type(error).__name__
    return "done"
"""


def confined(tmp_path, body: str):
    """Run a program behind the walls and return what it prints as JSON."""
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    elsewhere.mkdir()
    (elsewhere / "secret.h").write_text("#error secret\n")
    program = PROLOGUE + textwrap.dedent(body)
    words = [sys.executable, "-c", program, str(own), str(elsewhere / "secret.h")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


needs_landlock = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@needs_landlock
def test_files_network_and_signals_are_out_of_reach(tmp_path):
    found = confined(
        tmp_path,
        """
        print(json.dumps({
            "own": attempt(lambda: (folder / "a").write_text("a") and (folder / "a").read_text()),
            "read": attempt(secret.read_text),
            "list": attempt(lambda: list(secret.parent.iterdir())),
            "write": attempt(lambda: secret.with_name("b").write_text("b")),
            "etc": attempt(Path("/etc/passwd").read_text),
            "proc": attempt(Path(f"/proc/{os.getppid()}/environ").read_bytes),
            "child": attempt(lambda: subprocess.run(["/bin/cat", secret], check=True, capture_output=True)),
            "bind": attempt(lambda: socket.create_server(("127.0.0.1", 0))),
            "kill": attempt(lambda: os.kill(os.getppid(), 0)),
        }))
        """,
    )
    assert found.pop("own") == "done"
    # Older interfaces do not know networks (before 4) and signals (before 6).
    if landlock_version() < 4:
        found.pop("bind")
    if landlock_version() < 6:
        found.pop("kill")
    assert set(found.values()) == {"PermissionError"}, found


@needs_landlock
@pytest.mark.toolchain
def test_nvrtc_itself_cannot_read_what_it_is_told_to(tmp_path):
    """The second wall alone: the source goes to NVRTC unchecked."""
    found = confined(
        tmp_path,
        """
        import tempfile
        from warpwatt.frontend import toolchain
        from warpwatt.frontend.nvrtc import call
        from warpwatt.frontend.options import CompileOptions
        tempfile.tempdir = str(folder)
        def log(text):
            request = dict(source=text, name="k.cu", headers={}, options=["--gpu-architecture=compute_90"], expressions=[])
            return call(request, toolchain.installed(), CompileOptions())["log"]
        kernel = "__global__ void f(int *p) { *p = 1; }"
        print(json.dumps([
            log(f'#include "{secret}"\\n' + kernel),
            log(f'#if __has_include("{secret}")\\n#error there\\n#endif\\n' + kernel),
        ]))
        """,  # noqa: E501 - a program
    )
    assert "could not open" in found[0] or "cannot open" in found[0]
    assert "#error" not in found[0]
    assert "there" not in found[1]


needs_filter = pytest.mark.skipif(not filters_system_calls(), reason="this kernel filters no system calls")


@needs_filter
def test_forbidden_actions_are_refused(tmp_path):
    """Each by the call itself, as native code that took over a worker would make it."""
    found = confined(
        tmp_path,
        """
        import ctypes, platform
        from warpwatt.workers.seccomp import refused
        own = folder / "own"
        own.write_text("x")
        os.write(os.open(folder / "true", os.O_CREAT | os.O_WRONLY, 0o700), Path("/bin/true").read_bytes())
        libc = ctypes.CDLL(None, use_errno=True)
        def call(number):
            ctypes.set_errno(0)
            return "done" if libc.syscall(number, -1, 0, 0, 0, 0, 0) >= 0 else os.strerror(ctypes.get_errno())
        actions = {
            "TCP": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
            "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "UDP 6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
            "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
            "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            "unix": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
            "pair": socket.socketpair,
            "chmod": lambda: own.chmod(0o777),
            "chown": lambda: os.chown(own, 0, 0),
            "utime": lambda: os.utime(own, (1, 1)),
            "setxattr": lambda: os.setxattr(own, "user.a", b"a"),
            "removexattr": lambda: os.removexattr(own, "user.a"),
            "mknod": lambda: os.mknod(folder / "device", 0o600 | 0o020000, os.makedev(1, 3)),
            "chroot": lambda: os.chroot(folder),
            "shell": lambda: subprocess.run(["/bin/sh", "-c", "true"]),
            "own program": lambda: subprocess.run([folder / "true"]),
        }
        print(json.dumps({name: attempt(action) for name, action in actions.items()}
                         | {name: call(number) for name, number in refused(platform.machine()).items()}))
        """,
    )
    if not landlock_version():
        for program in ("shell", "own program"):
            found.pop(program)
    allowed = {"PermissionError", "Operation not permitted"}
    assert {name: what for name, what in found.items() if what not in allowed} == {}
    assert len(found) >= 90


def test_workers_do_not_know_the_servers_environment(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("WARPWATT_GPUS", "/y")
    with only_needed_environment():
        known = dict(os.environ)
    assert "AWS_SECRET_ACCESS_KEY" not in known
    assert {"PATH", "WARPWATT_GPUS"} <= set(known)
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "x"


def test_time_files_and_descriptors_are_bounded(tmp_path):
    found = confined(
        tmp_path,
        """
        import resource
        kinds = ("CPU", "FSIZE", "CORE", "NOFILE", "AS")
        print(json.dumps({k: resource.getrlimit(getattr(resource, f"RLIMIT_{k}")) for k in kinds}))
        """,
    )
    assert found["CPU"] == [4, 4]
    assert found["CORE"] == [0, 0]
    assert all(soft == hard != -1 for soft, hard in found.values())
