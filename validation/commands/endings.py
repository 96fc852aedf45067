"""Sweeps that are interrupted and killed, disks that are full, caches that cannot be written or are cut.

``python -m validation.commands.endings [KILLS [INTERRUPTS]]`` writes ``docs/validation/endings.md``. Full and
read-only disks are small file systems in a mount namespace of their own (``unshare``), where there is one.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from validation import ROOT
from validation.commands.stamped import STAMPS

PAGE = ROOT / "docs" / "validation" / "endings.md"
VALUES = ("n=131072", "a=2", "x=f32[n]", "y=f32[n]")
LAUNCH = ["--grid", "512", "--block", "256", *(word for value in VALUES for word in ("--arg", value))]
SOURCE = str(ROOT / "examples" / "saxpy.cu")
SWEEP = ["sweep", SOURCE, *LAUNCH, "--gpu", "h200,a100", "--clock", "500:1900:5", "--jobs", "2"]
PREDICT = ["predict", SOURCE, *LAUNCH, "--gpu", "h200", "--format", "json"]
FRESH = [*PREDICT, "-D", "NAMED_NOWHERE"]
"""The same prediction with nothing kept of its compilation."""
PROGRAM = """\
#include <cstdio>
__global__ void add(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
    float *x;
    cudaMalloc(&x, 4 << 20);
    add<<<4096, 256>>>(x);
    std::printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""
HEAD = """\
# Endings that nobody wants

Written by `python -m validation.commands.endings` on {date} at commit {commit}; do not edit.

`{sweep}`
is killed (the process alone, or with all it has started), or gets Ctrl-C, at a random time, and started
again; a row counts as lost where a worker was done with it and `FILE.partial` does not hold it. Two
processors that others use too.

"""


@dataclass(slots=True)
class Tally:
    """What came of one kind of ending."""

    times: int = 0
    kept: int = 0
    lost: int = 0
    sweeps: int = 0
    different: int = 0
    slowest: float = 0.0
    codes: tuple[int, ...] = ()
    said: tuple[str, ...] = ()


def started(folder: Path) -> subprocess.Popen[str]:
    """Start the sweep, or go on with it, in a process group of its own."""
    words = [sys.executable, "-m", "validation.commands.stamped", *SWEEP, "-o", str(folder / "out.csv")]
    return subprocess.Popen(
        words, cwd=ROOT, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """Return the environment of a command: a cache in the folder."""
    own = {"PYTHONPATH": str(ROOT / "src"), STAMPS: str(folder / "stamps"), "NO_COLOR": "1"}
    return {**os.environ, **own, "WARPWATT_CACHE_DIR": str(folder / "cache"), **changes}


def ended(number: int, times: int, folder: Path, wanted: bytes) -> Tally:
    """Send a signal to sweeps, at random times, until it has been sent so often."""
    tally, random_ = Tally(), random.Random(number)
    result, partial, stamps = (folder / name for name in ("out.csv", "out.csv.partial", "stamps"))
    for file in (result, partial, stamps):
        file.unlink(missing_ok=True)
    while tally.times < times:
        process, seen = started(folder), lines(stamps)
        pause, began = random_.uniform(0.02, 1.0), None
        while process.poll() is None and (began is None or time.monotonic() - began < pause):
            time.sleep(0.01)
            if began is None and lines(stamps) > seen:
                began = time.monotonic()
        if process.poll() is None:
            sent = time.monotonic()
            if number == signal.SIGKILL and random_.random() < 0.5:
                process.kill()
            else:
                os.killpg(process.pid, number)
        code = process.wait()
        if result.exists():  # it was done before, or meanwhile
            tally.sweeps += 1
            tally.different += result.read_bytes() != wanted
            for file in (result, partial, stamps):
                file.unlink(missing_ok=True)
            continue
        tally.slowest = max(tally.slowest, time.monotonic() - sent)
        assert process.stderr is not None
        said = [line for line in process.stderr.read().splitlines() if not line.startswith("note:")]
        time.sleep(1)  # workers end by themselves when their parent has gone
        kept = {json.loads(line)[0] for line in partial.read_bytes().splitlines()[1:]}
        tally.times += 1
        tally.kept += len(kept)
        tally.lost += len(set(map(int, stamps.read_text().split())) - kept)
        tally.codes = tuple(sorted({*tally.codes, code}))
        tally.said = tuple(sorted({*tally.said, *(masked(line) for line in said)}))
        print(signal.Signals(number).name, tally, flush=True)
    return tally


def lines(file: Path) -> int:
    """Return the lines of a file, 0 where there is none."""
    return file.read_bytes().count(b"\n") if file.exists() else 0


def masked(line: str) -> str:
    """Return a line without its numbers of points."""
    words = line.split(" of ", 1)
    return f"N of {words[1]}" if len(words) > 1 and words[0].isdigit() else line


def mounted(what: str, command: list[str], folder: Path, *, seen: str = "") -> tuple[int, str, str]:
    """Run a command where a small file system lies at ``folder/disk``; return its code and what it says.

    ``what`` is done in a shell once the file system is there.
    """
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    words = " ".join(f"'{word}'" for word in command)
    script = f"mount -t tmpfs -o size=256k none {disk} && {what} && cd {ROOT} && {words}"
    environment_ = environment(folder, **({"WARPWATT_CACHE_DIR": f"{disk}/cache"} if seen == "cache" else {}))
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        capture_output=True, text=True, env=environment_, check=False, timeout=600,
    )  # fmt: skip
    return done.returncode, done.stderr.strip(), done.stdout


def disks(folder: Path, wanted: str) -> list[str]:
    """Return the rows of the table of disks and caches."""
    warpwatt = [sys.executable, "-m", "warpwatt"]
    disk, rows = folder / "disk", []
    program = folder / "program.cu"
    program.write_text(PROGRAM, encoding="utf-8")
    run = ["run", str(program)]
    fill = f"dd if=/dev/zero of={disk}/filler bs=1k count=1000 2>/dev/null; true"
    read_only = f"mkdir {disk}/cache && mount -o remount,ro {disk}"
    cases = [
        ("disk full, result", "sweep", fill, [*SWEEP, "-o", f"{disk}/out.csv"], ""),
        ("disk full while it runs", "sweep", "true", [*SWEEP, "-o", f"{disk}/out.csv"], ""),
        ("disk full, cache", "sweep", fill, [*SWEEP, "-o", f"{folder}/full.csv"], "cache"),
        ("disk full, cache", "predict", fill, PREDICT, "cache"),
        ("disk full, result", "predict", fill, [*PREDICT, "-o", f"{disk}/out.json"], ""),
        ("read-only, result", "predict", read_only, [*PREDICT, "-o", f"{disk}/out.json"], ""),
        ("read-only, result", "sweep", read_only, [*SWEEP, "-o", f"{disk}/out.csv"], ""),
        ("read-only, cache", "predict", read_only, PREDICT, "cache"),
        ("disk full, result", "run", fill, [*run, "-o", f"{disk}/out.html"], ""),
        ("disk full, launches", "run", fill, [*run, "--save", f"{disk}/launches"], ""),
        ("disk full, cache", "run", fill, run, "cache"),
        ("disk full, temporary files", "run", f"{fill} && export TMPDIR={disk}", run, ""),
        ("disk full, temporary files", "predict", f"{fill} && export TMPDIR={disk}", FRESH, ""),
    ]
    for situation, verb, what, command, seen in cases:
        code, said, output = mounted(what, [*warpwatt, *command], folder, seen=seen)
        same = "the same" if output and output == wanted else "none" if not output else "other"
        rows.append(f"| {situation} | {verb} | {code} | {quoted(said)} | {same} |")
        print(rows[-1], flush=True)
    return rows


def quoted(said: str) -> str:
    """Return what a command said, as a table holds it."""
    return "<br>".join(f"`{line}`" for line in said.splitlines()[-4:]) or "nothing"


def caches(folder: Path, wanted: str) -> list[str]:
    """Return rows: two processes on a cold cache, then entries that are cut, then garbage."""
    rows = []
    shutil.rmtree(folder / "cache", ignore_errors=True)
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "warpwatt", *PREDICT], cwd=ROOT, env=environment(folder),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in both:
        output, said = process.communicate()
        same = "the same" if output == wanted else "other"
        rows.append(f"| two at once, cold cache | predict | {process.returncode} | {quoted(said)} | {same} |")
    for name, change in (
        ("cut in half", lambda data: data[: len(data) // 2]),
        ("garbage", lambda _: b"x" * 99),
    ):
        files = [file for file in (folder / "cache").rglob("*") if file.is_file()]
        for file in files:
            file.write_bytes(change(file.read_bytes()))
        code, said, output = plain(folder, PREDICT)
        same = "the same" if output == wanted else "other"
        rows.append(f"| {len(files)} cached files {name} | predict | {code} | {quoted(said)} | {same} |")
    return rows


def plain(folder: Path, command: list[str]) -> tuple[int, str, str]:
    """Run a command; return its code, what it says and what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "warpwatt", *command],
        cwd=ROOT, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr, done.stdout


def page(tallies: dict[str, Tally], rows: list[str]) -> str:
    """Return the Markdown page."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    sweep = " ".join(word.replace(str(ROOT) + "/", "") for word in SWEEP)
    parts = [HEAD.format(date=time.strftime("%Y-%m-%d"), commit=commit, sweep=sweep)]
    parts += [
        "| what | times | exit codes | slowest end (s) | rows kept, in sum | lost | ended | different |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, tally in tallies.items():
        codes = ", ".join(map(str, tally.codes))
        parts.append(
            f"| {name} | {tally.times} | {codes} | {tally.slowest:.2f} | {tally.kept} | {tally.lost} "
            f"| {tally.sweeps} | {tally.different} |"
        )
    parts.append("\n" + "\n".join(f"{n} says: {quoted(chr(10).join(t.said))}" for n, t in tallies.items()))
    parts += ["\n| situation | verb | exit code | said | output |", "| --- | --- | --- | --- | --- |", *rows]
    return "\n".join(parts).replace(tempfile.gettempdir(), "") + "\n"


def main(kills: int = 100, interrupts: int = 20) -> int:
    """Write the page; return 1 where a row was lost or a result differs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code, said, wanted = plain(folder, PREDICT)
        assert not code, said
        assert not started(folder).wait()
        result = (folder / "out.csv").read_bytes()
        rows = [*disks(folder, wanted), *caches(folder, wanted)]
        tallies = {
            "Ctrl-C": ended(signal.SIGINT, interrupts, folder, result),
            "kill -9": ended(signal.SIGKILL, kills, folder, result),
        }
        text = page(tallies, rows).replace(name, "").replace(str(ROOT) + "/", "")
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return int(any(tally.lost or tally.different for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
