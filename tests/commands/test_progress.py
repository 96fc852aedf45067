"""What a terminal shows of long work, and that nothing else does."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import warpwatt
from warpwatt.core.progress import counted, interrupted, listening, step

SLOW = """
import sys, time
from warpwatt.commands import progress
import warpwatt
from warpwatt.core.progress import interrupted, step
progress.DELAY_SECONDS, progress.PERIOD_SECONDS = 0.05, 0.05
with progress.show_steps():
    with step("NVIDIA H200 (1 of 2)"), step("compiling"), step("emulating"):
        time.sleep(0.5)
        with interrupted():
            print("note: about it", file=sys.stderr)
    print("the answer")
"""
EXAMPLE = Path(__file__).parents[2] / "examples" / "saxpy.cu"


def run_on_terminal(*command: str) -> tuple[str, str]:
    """Run Python with stderr a terminal and stdout a pipe; return both texts."""
    main, terminal = pty.openpty()
    pieces: list[bytes] = []

    def listen() -> None:
        try:
            while piece := os.read(main, 4096):
                pieces.append(piece)
        except OSError:  # the other end was closed
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=terminal, env=environment, check=False
    )
    os.close(terminal)
    listener.join()
    os.close(main)
    err = b"".join(pieces).decode()
    assert done.returncode == 0, err
    return done.stdout.decode(), err


def visible(text: str) -> str:
    """Return what stays on a terminal: a line that is erased does not."""
    lines = [line.rpartition("\x1b[K")[2] for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join(line.lstrip("\r") for line in lines)


def test_a_terminal_shows_seconds_and_the_step_until_it_is_done() -> None:
    out, err = run_on_terminal("-c", SLOW)
    assert out == "the answer\n"
    assert re.search(r"\r\x1b\[K\d+ s  NVIDIA H200 \(1 of 2\): emulating", err)
    assert visible(err) == "note: about it\n"


def test_what_is_no_terminal_shows_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("the answer\n", "note: about it\n")


@pytest.mark.toolchain
def test_a_quick_prediction_leaves_nothing_on_the_terminal() -> None:
    out, err = run_on_terminal("-m", "warpwatt", "predict", str(EXAMPLE), "--format", "csv")
    assert out
    assert visible(err).strip() == ""


def test_steps_are_told_from_the_outside_in_and_end_with_errors() -> None:
    heard: list[tuple[str, ...]] = []

    @step("outer")
    def fail() -> None:
        with step("inner"), interrupted():
            raise ValueError("x")

    with listening(heard.append), pytest.raises(ValueError, match="x"):
        fail()
    assert heard == [("outer",), ("outer", "inner"), (), ("outer", "inner"), ("outer",), ()]
    with step("nobody hears"):
        assert len(heard) == 6


def test_who_listens_to_nothing_is_told_nothing() -> None:
    heard: list[tuple[str, ...]] = []
    with listening(heard.append), listening(None), step(counted("GPU", 1, 2)):
        pass
    assert not heard


@pytest.mark.toolchain
def test_a_prediction_tells_what_it_does_and_on_which_gpu() -> None:
    heard: list[tuple[str, ...]] = []
    with listening(heard.append):
        warpwatt.predict_all(EXAMPLE, gpu="h200,t4")
    told = {": ".join(steps) for steps in heard}
    begun = {text for steps in heard for text in steps}  # both targets may compile at one time
    assert {"compiling for sm_90", "compiling for sm_75"} <= begun
    assert {"saxpy on NVIDIA H200 (1 of 2)", "saxpy on Tesla T4 (2 of 2): simulating"} <= told
    assert heard[-1] == ()
