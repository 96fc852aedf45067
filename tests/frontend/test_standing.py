"""A compiler's process that stays for the next request: its answers, its limits, its end."""

from __future__ import annotations

import os
import sys

import pytest

from warpwatt.core.errors import ToolchainError
from warpwatt.frontend import nvrtc, standing, toolchain
from warpwatt.frontend.compiled import Source
from warpwatt.frontend.options import CompileOptions
from warpwatt.frontend.standing import ask

ECHO = "import os, sys\nfor line in sys.stdin: print(os.getpid(), line.strip(), flush=True)"


@pytest.fixture(autouse=True)
def _none_stands():
    standing.end_all()
    yield
    standing.end_all()


def said(program: str, request: bytes = b"hello", timeout: float = 20.0):
    command = [sys.executable, "-I", "-S", "-c", program]
    return ask(command, request, timeout=timeout, memory=2**31, extra_environment={})


def test_one_process_answers_until_it_has_answered_enough(monkeypatch):
    monkeypatch.setattr(standing, "MOST", 2)
    answers = [said(ECHO, text).stdout.split() for text in (b"a", b"b", b"c")]
    assert [text for _, text in answers] == [b"a", b"b", b"c"]
    pids = [pid for pid, _ in answers]
    assert pids[0] == pids[1] != pids[2]
    assert pids[0] != str(os.getpid()).encode()


def test_one_that_ends_says_why_and_another_takes_its_place():
    crashes = said("import sys; sys.stdin.readline(); sys.exit('out of order')")
    assert (crashes.status, crashes.stdout) == (1, b"")
    assert b"out of order" in crashes.stderr
    at_once = said("raise SystemExit(3)", b"x" * 2**20)
    assert at_once.status == 3
    assert said(ECHO).status == 0


def test_time_runs_out():
    with pytest.raises(ToolchainError, match="did not finish within"):
        said("import time; time.sleep(60)", timeout=0.2)


def test_a_forked_process_starts_its_own():
    said(ECHO)
    if (child := os.fork()) == 0:
        os._exit(len(standing._IDLE))
    assert os.waitpid(child, 0)[1] == 0
    assert standing._IDLE


def test_nvrtc_makes_the_same_code_while_it_stands(monkeypatch, tmp_path):
    monkeypatch.setattr(nvrtc, "_CALLED", set())
    file, toolkit = tmp_path / "k.cu", toolchain.installed()
    file.write_text("__global__ void k(float *x) { x[N] = N; }")
    source = Source(file.name, file.read_bytes(), file)

    def compiled(define: str):
        return nvrtc.compile_nvrtc(source, "sm_90", toolkit, CompileOptions(defines=(define,)))

    first, second, again = compiled("N=1"), compiled("N=2"), compiled("N=1")
    assert standing._IDLE
    assert first.ptx == again.ptx != second.ptx
    assert first.cubin == again.cubin
