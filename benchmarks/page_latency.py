"""How soon the server answers the page: ``python -m benchmarks.page_latency [FILE.cu]``.

A client asks a warm server of one worker through HTTP, as the page does: *first* is when the predictions are
there, *wall* when they have advice and a report. CPU is that of the server and all it starts, from the
request to its answer; memory is what they have resident at the end, shared pages counted once per process.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import psutil

from warpwatt.server.web.pieces import PIECES

SAMPLES = 5
FIRST = 63
"""Rows of blocks of the first new launch; each further one has one less."""


def new_launch(body: dict[str, Any], number: int) -> dict[str, Any]:
    """Ask for a launch that nobody asked for before, of code that is compiled."""
    return body | {"source": re.sub(r"grid 64,64", f"grid 64,{FIRST - number}", body["source"])}


def other_gpu(body: dict[str, Any], number: int) -> dict[str, Any]:
    """Ask for another GPU of one architecture, the launch known."""
    return body | {"gpus": [("h100-sxm", "h100-pcie", "h100-nvl", "gh200", "h20")[number]]}


def new_code(body: dict[str, Any], number: int) -> dict[str, Any]:
    """Ask about code that nobody has seen."""
    return body | {"source": body["source"].replace("sum = 0.0f", f"sum = {number}.{time.time_ns()}f")}


SCENES = {
    "asked again": lambda body, _: body,
    "another GPU of the architecture": other_gpu,
    "a new launch of compiled code": new_launch,
    "new code": new_code,
}


def main() -> None:
    """Measure and print a table."""
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "examples/matmul.cu")
    command = [sys.executable, "-m", "warpwatt", "serve", "--port", "0", "--workers", "1", "--timeout", "600"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        _measure(found[0].rstrip("/"), process, {"source": file.read_text("utf-8"), "gpus": ["h200"]})
    finally:
        process.terminate()
        process.wait(60)


def _measure(url: str, process: subprocess.Popen[str], body: dict[str, Any]) -> None:
    root = psutil.Process(process.pid)
    with httpx.Client(base_url=url, timeout=600) as client:
        _sample(client, root, body)
        print(f"{'median of ' + str(SAMPLES):<36}{'first s':>8}{'wall s':>8}{'CPU s':>8}")
        for name, change in SCENES.items():
            taken = [_sample(client, root, change(body, number)) for number in range(SAMPLES)]
            medians = (statistics.median(column) for column in zip(*taken, strict=True))
            print(f"{name:<36}" + "".join(f"{each:>8.3f}" for each in medians), flush=True)
    resident = sum(one.memory_info().rss for one in (root, *root.children(recursive=True)))
    print(f"resident: {resident / 2**20:.0f} MiB")


def _sample(client: httpx.Client, root: psutil.Process, body: dict[str, Any]) -> tuple[float, float, float]:
    """Return the seconds to the first piece of an answer, to the last one, and those of computing."""
    before, start = _computing(root), time.perf_counter()
    asked = client.stream("POST", "/api/v1/predict", json=body, headers={"accept": PIECES})
    with asked as answer:
        assert answer.is_success, answer.read()
        seconds = [time.perf_counter() - start for chunk in answer.iter_bytes() if chunk.endswith(b"\x1e")]
    return seconds[0], seconds[-1], _computing(root) - before


def _computing(root: psutil.Process) -> float:
    times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in times))


if __name__ == "__main__":
    main()
