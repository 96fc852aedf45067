"""However the server ends, its workers, their compilers and their folders end with it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from validation.server.attack_traffic import post

from tests.server.web.conftest import ROOT
from tests.workers.test_pool import ENDLESS, compiler
from warpwatt.workers.family import family

pytestmark = pytest.mark.toolchain


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_nothing_is_left(number, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "WARPWATT_SERVE_COLD": "1",
        "TMPDIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "warpwatt", "serve", "--port", "0"]
    server = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stdout is not None
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(post(port, json.dumps({"source": ENDLESS}).encode(), path="/api/v1/kernels"))
        until(lambda: any(map(compiler, family(server.pid))))
        started = family(server.pid)[1:]
        assert list(tmp_path.glob("warpwatt-serve-*"))
        server.send_signal(number)
        _, said = server.communicate(timeout=30)
    until(lambda: not any(map(alive, started)))
    if number != signal.SIGKILL:
        until(lambda: not list(tmp_path.glob("warpwatt-serve-*")))
    else:  # the worker tidies up itself, but may not remove its folder
        until(lambda: not list(tmp_path.glob("warpwatt-serve-*/*")))
    assert "Traceback" not in said, said
    assert server.returncode == (0 if number == signal.SIGINT else -number)


def until(true, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
