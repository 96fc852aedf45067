"""Attack ``warpwatt serve`` and write what came of it.

``python -m validation.server.attacks [GROUP...]`` starts a server of its own, sends everything that
:mod:`~validation.server.attack_sources` and :mod:`~validation.server.attack_traffic` hold, asks ``/healthz`` twenty
times a second meanwhile; with all groups it attacks servers too whose system seems to lack a wall, and writes
``docs/validation/web_attacks.md``. Some twenty minutes.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import ROOT
from validation.server import attack_sources as sources
from validation.server import attack_traffic as traffic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = ROOT / "docs" / "validation" / "web_attacks.md"
HOST = "127.0.0.1"
SECONDS, MEMORY = 15, "1500M"
"""Limits of a request on the server that is attacked: lower than the defaults, to save time."""
WANTED_P95_S = 0.5

HEAD = """\
# Attacks on the web server

Written by `python -m validation.server.attacks` on {date} at commit {commit}; do not edit.

A server with limits of {seconds} s and {memory} a request, {workers} workers and a queue of 16 is sent what follows, on a
machine of {cpus} processors that others use too. `/healthz` is asked twenty times a second meanwhile; *p95* is the time within
which 95 % of these answers came. *Held* means: the answer is one of those that are right for the attack, no
answer holds a word of the file that inclusions aim at, markup comes back escaped, and the server goes on.
Landlock keeps files from workers here: {confined}.
"""
ABSENT = {
    "Landlock": "confinement.landlock_version = lambda: 0",
    "seccomp filters": "confinement.filters_system_calls = lambda: False\n"
    "confinement.refuse_system_calls = lambda _: None",
}
"""What makes a system seem to lack a wall, by the name that the server gives it."""
ON_FILES = ("inclusion", "files", "markup", "after all")
"""Groups sent to a server without a wall: what is to be read, started or shown; limits are the same."""


@dataclass(slots=True)
class Result:
    """What came of one attack."""

    group: str
    name: str
    outcome: str
    held: bool
    seconds: float


@dataclass(slots=True)
class Pulse:
    """A thread that asks for the server's health; ``late`` are the seconds each answer took, by group."""

    port: int
    group: str = ""
    late: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    stop: threading.Event = field(default_factory=threading.Event)

    def beat(self) -> None:
        """Ask until told to stop; no answer within ten seconds counts as ten."""
        while not self.stop.wait(0.05):
            began = time.monotonic()
            try:
                connection = http.client.HTTPConnection(HOST, self.port, timeout=10)
                connection.request("GET", "/healthz")
                good = connection.getresponse().status == 200
                connection.close()
            except OSError:
                good = False
            self.late[self.group].append(time.monotonic() - began if good else 10.0)

    def p95(self, group: str) -> float:
        """Seconds within which 95 % of the answers came."""
        values = self.late[group]
        return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else float("nan")


@contextmanager
def server(absent: str, folder: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Start a server on a free port, whose system may seem to lack a wall, and end it."""
    command = [
        sys.executable,
        "-m",
        "warpwatt",
        "serve",
        "--port",
        "0",
        "--timeout",
        str(SECONDS),
        "--memory",
        MEMORY,
    ]
    change = f"from warpwatt.workers import confinement\n{ABSENT[absent]}\n" if absent else ""
    (folder / "sitecustomize.py").write_text(change, encoding="ascii")
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'src'}"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        said = ""  # what it lacks comes before where it is
        while (found := re.search(r":(\d+)/", said)) is None:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server does not start: {said}")
            said += line
        threading.Thread(target=process.stdout.read, daemon=True).start()
        port = int(found[1])
        traffic.exchange(HOST, port, traffic.get(port, "/healthz"), wait=60)
        yield port, process
    finally:
        process.terminate()
        process.wait(20)


def attacked(port: int, attack: sources.Attack, secret: str) -> tuple[str, bool]:
    """Send a hostile source; return the outcome in words, and whether the server held."""
    answer = traffic.exchange(HOST, port, traffic.post(port, json.dumps(attack.request).encode()), wait=90)
    code = traffic.status(answer)
    head, _, body = answer.partition(b"\r\n\r\n")
    told = (
        secret.encode() in answer or b"#error directive: yes" in answer
    )  # the second: it knows that the file is there
    if code == 200:
        link = re.search(rb"link: <([^>]+)>", head, re.IGNORECASE)
        page = traffic.exchange(HOST, port, traffic.get(port, link[1].decode())) if link else b""
        told |= secret.encode() in page
        live = b"<img src=x" in page
        outcome = "predicted" + (", file shown" if told else "") + (", MARKUP LIVE" if live else "")
        return outcome, attack.good and not told and not live
    try:
        problem = json.loads(body)
    except ValueError:
        return f"{code}, no problem document", False
    kind = problem["type"].rpartition(":")[2]
    message = re.sub(r"\s+", " ", problem["detail"])[:110]
    line = f" (line {problem['line']})" if problem.get("line") else ""
    return f"{kind}{line}: {message}{'; FILE SHOWN' if told else ''}", kind in attack.kinds and not told


def run(groups: tuple[str, ...], absent: str = "") -> tuple[list[Result], Pulse, dict[str, Any]]:
    """Attack a server of our own; return the results, the pulse and what it says of its health."""
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, server(absent, Path(folder)) as (port, process):
        secret = secrets.token_hex(8)
        canary = Path(folder) / "canary.h"
        canary.write_text(f"#error canary {secret}\n", encoding="ascii")
        pulse = Pulse(port)
        beating = threading.Thread(target=pulse.beat, daemon=True)
        beating.start()

        def attempt(group: str, name: str, what: Callable[[], tuple[str, bool]]) -> None:
            if groups and group not in groups:
                return
            pulse.group = group
            began = time.monotonic()
            outcome, held = what()
            alive = process.poll() is None
            results.append(
                Result(
                    group,
                    name,
                    outcome if alive else "the server ended",
                    held and alive,
                    time.monotonic() - began,
                )
            )
            print(
                f"{'held' if held and alive else 'FAILED':7}{group}: {name}: {outcome} ({results[-1].seconds:.1f} s)",
                flush=True,
            )

        pulse.group = "at rest"
        time.sleep(3)
        written = (
            *sources.inclusions(str(canary)),
            *sources.compile_bombs(),
            *sources.emulation_bombs(),
            *sources.markup(),
        )
        for attack in written:
            attempt(attack.group, attack.name, partial(attacked, port, attack, secret))
        for sent in (*traffic.requests(), *traffic.crowds()):
            attempt(sent.group, sent.name, partial(sent.run, HOST, port))
        attempt("after all", "nothing is left behind", lambda: tidy(port))
        health = traffic.exchange(HOST, port, traffic.get(port, "/healthz")).partition(b"\r\n\r\n")[2]
        pulse.stop.set()
        beating.join()
    return results, pulse, json.loads(health)


def tidy(port: int) -> tuple[str, bool]:
    """Return whether workers are idle and their folders gone."""
    time.sleep(1)
    health = json.loads(traffic.exchange(HOST, port, traffic.get(port, "/healthz")).partition(b"\r\n\r\n")[2])
    folders = list(Path(tempfile.gettempdir()).glob("warpwatt-serve-*"))
    said = f"{health['running']} running, {health['waiting']} waiting, {len(folders)} folders"
    return said, not (health["running"] or health["waiting"] or folders)


def page(results: list[Result], pulse: Pulse, *, confined: bool) -> str:
    """Return the Markdown page."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    cpus = os.cpu_count() or 1
    parts = [
        HEAD.format(date=time.strftime("%Y-%m-%d"), commit=commit, seconds=SECONDS, memory=MEMORY, cpus=cpus,
                    workers=max(1, min(4, cpus)), confined="yes" if confined else "no"),
        f"{sum(r.held for r in results)} of {len(results)} held.\n",
        "## How busy the server was\n",
        "| attacks | number | held | longest (s) | `/healthz` median (ms) | p95 (ms) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for group in dict.fromkeys((*pulse.late, *(r.group for r in results))):
        own = [r for r in results if r.group == group]
        times = pulse.late[group]
        longest = f"{max(r.seconds for r in own):.1f}" if own else "-"
        parts.append(
            f"| {group} | {len(own) or '-'} | {sum(r.held for r in own) if own else '-'} | {longest} "
            + (
                f"| {1e3 * statistics.median(times):.0f} | {1e3 * pulse.p95(group):.0f} |"
                if len(times) > 4
                else "| over too soon | |"
            )
        )
    for group in dict.fromkeys(r.group for r in results):
        parts += [
            f"\n## {group.capitalize() if group != 'JSON' else group}\n",
            "| what was sent | outcome | held | s |",
            "| --- | --- | --- | --- |",
        ]
        parts += [
            f"| {_cell(r.name)} | {_cell(r.outcome)} | {'yes' if r.held else '**no**'} | {r.seconds:.1f} |"
            for r in results
            if r.group == group
        ]
    return "\n".join(parts) + "\n"


def _cell(text: str) -> str:
    text = re.sub(r"/\S*canary\.h", "FILE", text)
    return text.replace("|", "\\|").replace("<", "&lt;")


def page_without(absent: str, results: list[Result], health: dict[str, Any]) -> str:
    """Return the part of the page about a server that lacks a wall."""
    rows = [f"| {r.group} | {_cell(r.name)} | {_cell(r.outcome)} |" for r in results if not r.held]
    missing = ", ".join(health["missing_walls"])
    return (
        f"\n## Without {absent}\n\n"
        f"The system seems to have no {absent}: at its start the server warns, every page says so, `/healthz` answers "
        f"`missing_walls: {missing}`, and without `--without-walls` it answers this machine only. What aims at files, "
        f"and markup, sent again: {sum(r.held for r in results)} of {len(results)} held.\n"
        + ("\n| attacks | what was sent | outcome, not held |\n| --- | --- | --- |\n" if rows else "")
        + "\n".join(rows)
    )


def main() -> int:
    """Attack; return 1 if the server did not hold."""
    groups = tuple(sys.argv[1:])
    results, pulse, health = run(groups)
    late = [g for g in pulse.late if pulse.p95(g) > WANTED_P95_S]
    print(
        f"{sum(r.held for r in results)} of {len(results)} held; slow answers during: {', '.join(late) or 'none'}"
    )
    if not groups:
        text = page(results, pulse, confined=health["confined"])
        for absent in ABSENT:
            without, _, health = run(ON_FILES, absent)
            assert absent in health["missing_walls"], health
            text += page_without(absent, without, health)
            results += without
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE}")
    return int(not all(r.held for r in results))


if __name__ == "__main__":
    sys.exit(main())
