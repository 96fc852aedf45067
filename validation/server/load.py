"""Fifty clients at once against ``warpwatt serve`` on the loopback.

``python -m validation.server.load [SECONDS [CLIENTS]]``. Each sends one prediction after the other, of a
kernel of its own, and waits two seconds where the server is busy, as ``Retry-After`` says. ``/healthz`` is
asked twenty times a second meanwhile.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from validation.server import attack_traffic as traffic
from validation.server.attacks import HOST, Pulse, server

KERNEL = "__global__ void scale(float *x) {{ x[blockIdx.x * blockDim.x + threadIdx.x] *= {}.5f; }}"


def request(number: int) -> bytes:
    """Return the body of a prediction that nobody has asked for."""
    launch = {"grid": 64 + number % 64, "block": 128, "args": {"x": "f32[16384]"}}
    body = {"source": KERNEL.format(number), "launch": launch, "gpus": ["h200"], "advice": False}
    return json.dumps(body).encode()


def client(port: int, own: int, until: float, answers: Counter[int], times: list[float]) -> None:
    """Ask until the time is up."""
    number = own
    while time.monotonic() < until:
        began = time.monotonic()
        code = traffic.status(traffic.exchange(HOST, port, traffic.post(port, request(number)), wait=120))
        answers[code] += 1
        number += 1000
        if code == 200:
            times.append(time.monotonic() - began)
        else:
            time.sleep(2)


def main(seconds: float = 300.0, clients: int = 50) -> int:
    """Print what was answered and refused, and the slowest health check; return 1 where anything failed."""
    answers: Counter[int] = Counter()
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder, server("", Path(folder)) as (port, process):
        pulse, until = Pulse(port, "load"), time.monotonic() + seconds
        threading.Thread(target=pulse.beat, daemon=True).start()
        each = [
            threading.Thread(target=client, args=(port, own, until, answers, times), daemon=True)
            for own in range(clients)
        ]
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
        pulse.stop.set()
        alive = process.poll() is None
    late = pulse.late["load"]
    print(f"{clients} clients, {seconds:g} s: {answers[200]} answered, {answers[503]} refused (503), others "
          f"{ {code: n for code, n in answers.items() if code not in (200, 503)} }")  # fmt: skip
    if times:
        print(f"answers: median {statistics.median(times):.1f} s, slowest {max(times):.1f} s")
    print(f"{len(late)} health checks: median {1e3 * statistics.median(late):.0f} ms, "
          f"p95 {1e3 * pulse.p95('load'):.0f} ms, slowest {1e3 * max(late):.0f} ms")  # fmt: skip
    return int(not alive or bool(answers.keys() - {200, 503}))


if __name__ == "__main__":
    seconds, clients = [*sys.argv[1:3], *("300", "50")[len(sys.argv) - 1 :]]
    sys.exit(main(float(seconds), int(clients)))
