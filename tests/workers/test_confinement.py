"""Behind the walls: what a worker cannot do even if it wanted to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

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
{before}
confine(reach(folder), Limits(seconds=2), 1)

def attempt(what):
    try:
        what()
    except Exception as error:
        return type(error).__name__
    return "done"
"""


def confined(tmp_path, body: str, before: str = ""):
    """Run a program behind the walls, after ``before``, and return what it prints as JSON."""
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    elsewhere.mkdir()
    (elsewhere / "secret.h").write_text("#error secret\n")
    program = PROLOGUE.replace("{before}", before) + textwrap.dedent(body)
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


SYSTEMS = {
    "Linux 6.12 and later": (6, True),
    "Linux 5.13 and later": (1, True),
    "older Linux": (0, True),
    "Linux without seccomp": (6, False),
}
"""Version of Landlock, and whether system calls are filtered; docs/how-to/browser.md has the table."""
REFUSED = {"PermissionError", "Operation not permitted"}
ACTIONS = """
    import ctypes, errno, platform
    from warpwatt.workers.seccomp import refused
    own, parent = folder / "own", os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = refused(platform.machine())
    def call(name, *words):
        ctypes.set_errno(0)
        if libc.syscall(numbers[name], *(words or (-1, 0, 0, 0, 0, 0))) < 0:
            raise OSError(ctypes.get_errno(), "")
    def linked(how):
        try:
            how(secret, folder / how.__name__)
        except OSError as error:
            raise PermissionError if error.errno == errno.EXDEV else error  # which Landlock says of links
        return (folder / how.__name__).read_bytes()
    print(json.dumps({area: {name: attempt(action) for name, action in actions.items()} for area, actions in {
        "files": {
            "read": secret.read_bytes,
            "list": lambda: os.listdir(secret.parent),
            "write": lambda: secret.with_name("new").write_bytes(b""),
            "append": lambda: secret.open("ab"),
            "remove": secret.unlink,
            "rename": lambda: secret.rename(secret.with_name("b")),
            "symbolic link": lambda: linked(os.symlink),
            "hard link": lambda: linked(os.link),
            "password file": Path("/etc/passwd").read_bytes,
            "environment of another process": Path(f"/proc/{parent}/environ").read_bytes,
        },
        "programs": {
            "shell": lambda: subprocess.run(["/bin/sh", "-c", "true"]),
            "own program": lambda: subprocess.run([folder / "true"]),
        },
        "network": {
            "TCP": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
            "TCP 6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM),
            "UDP": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
            "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            "unix": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
            "pair": socket.socketpair,
            "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
        },
        "modes, owners, times of files": {
            "chmod": lambda: own.chmod(0o777),
            "chown": lambda: os.chown(own, 0, 0),
            "utime": lambda: os.utime(own, (1, 1)),
            "setxattr": lambda: os.setxattr(own, "user.a", b"a"),
            "mknod": lambda: os.mknod(folder / "device", 0o600 | 0o020000, os.makedev(1, 3)),
        },
        "other processes": {
            "signal": lambda: os.kill(parent, 0),
            "trace": lambda: call("ptrace", 0x4206, parent, 0, 0),
            "memory": lambda: Path(f"/proc/{parent}/mem").open("rb"),
            "copy of memory": lambda: call("process_vm_readv"),
            "descriptor": lambda: call("pidfd_getfd"),
            "niceness of all": lambda: call("process_madvise"),
        },
        "system": {
            "keyring": lambda: call("add_key"),
            "keys": lambda: call("keyctl"),
            "mount": lambda: call("mount"),
            "namespace": lambda: call("unshare", 0x10000000),
            "chroot": lambda: os.chroot(folder),
            "BPF": lambda: call("bpf"),
            "io_uring": lambda: call("io_uring_setup"),
            "counters": lambda: call("perf_event_open"),
        },
        "every call of the list": {name: lambda name=name: call(name) for name in numbers},
    }.items()}))
"""


@pytest.fixture(scope="module")
def attempts(tmp_path_factory):
    """Return what came of each action, by system, area and name; walls that are not there are simulated."""
    found = {}
    for system, (landlock, filters) in SYSTEMS.items():
        if landlock > landlock_version() or not filters_system_calls():
            pytest.skip("this kernel lacks a wall")
        absent = f"""
            from warpwatt.workers import confinement
            confinement.landlock_version = lambda: {landlock}
            {"" if filters else "confinement.refuse_system_calls = lambda _: None"}
            (folder / "own").write_text("x")
            program = os.open(folder / "true", os.O_CREAT | os.O_WRONLY, 0o700)
            os.write(program, Path("/bin/true").read_bytes())
            os.close(program)
            """
        path = tmp_path_factory.mktemp("walls")
        found[system] = confined(path, textwrap.dedent(ACTIONS), before=textwrap.dedent(absent))
    return found


def refusals(attempts, system):
    """Return area -> how many of its actions were refused, and how many there are."""
    return {
        area: (sum(what in REFUSED for what in actions.values()), len(actions))
        for area, actions in attempts[system].items()
    }


def test_every_forbidden_action_is_refused_behind_both_walls(attempts):
    found = attempts["Linux 6.12 and later"]
    done = {name: what for area in found.values() for name, what in area.items() if what not in REFUSED}
    assert done == {}
    assert sum(map(len, found.values())) >= 120


WHOLE = {
    "files": ["Landlock"],
    "programs": ["compilers and Python only (Landlock)"],
    "network": ["none of any family (seccomp)"],
    "modes, owners, times of files": ["refused (seccomp)"],
}
"""What a cell of the table of walls says where all actions of its area are refused."""


def documented():
    """Return the table of walls in the documentation: system -> area -> cell."""
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "browser.md").read_text(encoding="utf-8")
    start = text.index("| | files | programs |")
    lines = text[start : text.index("\n\n", start)].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.parametrize("system", SYSTEMS)
def test_walls_hold_what_the_table_of_the_documentation_says(attempts, system):
    table = documented()
    (row,) = (cells for name, cells in table.items() if name.startswith(system))
    for area, whole in WHOLE.items():
        refused, all_ = refusals(attempts, system)[area]
        assert (refused == all_) == (row[area] in whole), (area, attempts[system][area])
    others = attempts[system]["other processes"]
    assert (others["signal"] in REFUSED) == ("no signals" in row["other processes"])
    memory = {name: what in REFUSED for name, what in others.items() if name != "signal"}
    assert all(memory.values()) == (re.search("no .*memory", row["other processes"]) is not None), memory
    assert set(table) - {"macOS"} == {name for name in table if name.startswith(tuple(SYSTEMS))}


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
