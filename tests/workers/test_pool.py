"""Workers end in time, at their limits, when nobody wants them; and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpwatt.frontend.standing import end_all
from warpwatt.server.tasks import PRELOAD, TASKS
from warpwatt.workers.family import family
from warpwatt.workers.limits import MIB, Limits
from warpwatt.workers.pool import BusyError, LimitError, Pool, RefusedError
from warpwatt.workers.process import interrupts_deferred, spawned

pytestmark = pytest.mark.toolchain
LAUNCH = "// warpwatt: --grid 64 --block 64 --arg p=i32[64]:zeros\n"
KERNEL = LAUNCH + "__global__ void f(int *p) { p[threadIdx.x] = 1; }\n"
ENDLESS = "".join(f"#define M{i} M{i - 1} M{i - 1}\n" for i in range(1, 40)) + "int x = 0 M39;\n" + KERNEL


@pytest.fixture(scope="module", autouse=True)
def cold():
    """Fork from a process that has predicted nothing yet: most of these predict nothing either."""
    os.environ["WARPWATT_SERVE_COLD"] = "1"
    yield
    del os.environ["WARPWATT_SERVE_COLD"]


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """See no folder of another process, and no compiler that a test before has left standing."""
    end_all()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("warpwatt-serve-*"))


def awaited(work):
    """Run a coroutine in a thread: a browser that another test drives keeps a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def run(work, limits: Limits | None = None, workers: int = 1, queue: int = 1):
    """Run a coroutine function on a pool; nothing may be left of it."""

    async def main():
        pool = Pool(TASKS, PRELOAD, limits or Limits(), workers, queue)
        try:
            return await work(pool)
        finally:
            assert pool.running == pool.waiting == 0
            await pool.stop()

    before = set(folders())
    try:
        return awaited(main())
    finally:
        assert set(folders()) <= before


def test_an_answer_and_a_refusal():
    async def work(pool):
        found = await pool.run("kernels", {"source": KERNEL})
        with pytest.raises(RefusedError) as refusal:
            await pool.run("kernels", {"source": KERNEL.replace("1;", "q;")})
        return found, refusal.value.fields

    found, refused = run(work)
    assert [kernel["short"] for kernel in found["kernels"]] == ["f"]
    assert found["launches"] == [{"grid": "64", "block": "64", "args": {"p": "i32[64]:zeros"}}]
    assert (refused["kind"], refused["file"], refused["line"]) == ("CompileError", "kernel.cu", 2)


def test_a_compiler_that_never_ends_is_ended_with_its_worker():
    seen: set[int] = set()

    async def work(pool):
        task = asyncio.ensure_future(pool.run("kernels", {"source": ENDLESS}))
        while not task.done():
            await asyncio.sleep(0.1)
            seen.update(process for process in descendants() if compiler(process))
        return await task

    began = time.monotonic()
    with pytest.raises(LimitError, match="3 s"):
        run(work, Limits(seconds=3))
    assert time.monotonic() - began < 15
    assert seen, "no compiler was seen at work"
    assert not [process for process in seen if Path(f"/proc/{process}/exe").exists()]


def test_memory_is_bounded():
    async def work(pool):
        return await pool.run("kernels", {"source": f"__device__ int a[90000000] = {{1}};\n{KERNEL}"})

    with pytest.raises(LimitError, match="MiB"):
        run(work, Limits(seconds=30, memory=300 * MIB))


def test_who_goes_away_takes_the_work_along():
    async def work(pool):
        task = asyncio.ensure_future(pool.run("kernels", {"source": ENDLESS}))
        while not any(compiler(process) for process in descendants()):
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [process for process in descendants() if compiler(process)]

    assert run(work) == []


def test_the_queue_is_bounded():
    async def work(pool):
        asked = [asyncio.ensure_future(pool.run("walls", {})) for _ in range(4)]
        return await asyncio.gather(*asked, return_exceptions=True)

    found = run(work, workers=1, queue=1)
    assert sum(isinstance(answer, BusyError) for answer in found) == 2
    assert sum(isinstance(answer, dict) for answer in found) == 2


def descendants() -> tuple[int, ...]:
    return family(os.getpid())[1:]


def compiler(process: int) -> bool:
    try:
        return b"nvrtc_worker" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def test_an_interrupted_executor_leaves_nobody_at_work():
    begin, pids = time.monotonic(), []

    def interrupted() -> None:
        with spawned(1) as executor:
            pids.append(executor.submit(os.getpid).result())
            executor.submit(time.sleep, 60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - begin < 30
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_ctrl_c_waits_until_what_is_in_hand_is_kept():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = []

    def interrupted() -> None:
        with interrupts_deferred():
            os.kill(os.getpid(), signal.SIGINT)
            kept.append("row")
        kept.append("not reached")

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert kept == ["row"]
