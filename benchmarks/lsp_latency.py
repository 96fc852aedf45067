"""How soon the language server answers a save: ``python -m benchmarks.lsp_latency [FILE.cu]``.

A real client speaks to a real server through stdin and stdout. Every sample is an edit and a save: *first* is
when the first diagnostics of that version arrive, perhaps of some launches only, *all* when all are answered;
the next edit waits for that, because one that comes sooner would end the process that is at work. CPU is that
of the server and all it starts until then; resident memory that of each of its processes at the end.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import time
from pathlib import Path

import psutil
from tests.server.lsp.editor import Editor

from benchmarks import nothing_kept

EDITS = 7


def comment(text: str, number: int) -> str:
    """Change a comment."""
    return f"// edit {number}\n" + text


def known(text: str, number: int) -> str:
    """Go back and forth between versions of the code that were there before."""
    return text.replace("sum +=", ("sum +=", "sum += 2.0f *", "sum -=")[number % 3])


def launch(text: str, number: int) -> str:
    """Change the launch to one never asked for: compiled before, but what it does is new."""
    return re.sub(r"grid 64,64", f"grid 64,{63 - number - SALT % 50}", text)


def moved(text: str, number: int) -> str:
    """Insert lines above the kernels: compiled anew to the same machine code."""
    return f"constexpr int edit_{SALT} = {number};\n" * (number + 1 + SALT % 50) + text if number else text


def code(text: str, number: int) -> str:
    """Change the code to something never seen: everything is new."""
    return text.replace("sum = 0.0f", f"sum = {number}.{SALT}f")


SALT = os.getpid() % 300
SCENES = {
    "comment": comment,
    "known code": known,
    "moved code": moved,
    "new launch": launch,
    "new code": code,
}


def sample(editor: Editor, uri: str, text: str) -> tuple[float, float, float]:
    """Return the seconds to the first and to the whole answer, and those of computing."""
    before, start = computing(editor), time.perf_counter()
    editor.change(uri, text)
    editor.save(uri)
    editor.diagnostics(uri)
    first = time.perf_counter() - start
    editor.answered(uri)
    return first, time.perf_counter() - start, computing(editor) - before


def computing(editor: Editor) -> float:
    """Return the seconds of computing of the server and its processes so far."""
    total = 0.0
    root = psutil.Process(editor.process.pid)
    for process in [root, *root.children(recursive=True)]:
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


def medians(said: list[str]) -> str:
    """Return the median of every stage in lines such as ``compile 9, recall 1``."""
    found: dict[str, list[int]] = {}
    for name, number in (match for line in said for match in re.findall(r"(\w+) (\d+)", line)):
        found.setdefault(name, []).append(int(number))
    return ", ".join(f"{name} {statistics.median(numbers):.0f}" for name, numbers in found.items())


@nothing_kept()
def main() -> None:
    """Measure and print a table."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "examples/matmul.cu").resolve()
    text, uri = path.read_text(encoding="utf-8"), path.as_uri()
    editor = Editor(settings={"advice": False, "debounce": 10_000}, flags=("--log",))
    start = time.perf_counter()
    editor.open(uri, text)
    editor.answered(uri)
    print(
        f"{path.name}: {EDITS} saves each, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; ", end=""
    )
    print(f"first answer {time.perf_counter() - start:.2f} s after opening")
    for number in range(3):
        editor.change(uri, known(text, number))
        editor.save(uri)
        editor.answered(uri)
    heads = "".join(f"{head:>10s}" for head in ("first p50", "all p50", "p95", "worst", "CPU p50"))
    print(f"{'edit':12s}{heads}   stages, medians in ms")
    for name, scene in SCENES.items():
        editor.stderr.clear()
        samples = [sample(editor, uri, scene(text, number)) for number in range(EDITS)]
        columns = zip(*samples, strict=True)
        first, wall, computed = (sorted(1000 * one for one in column) for column in columns)
        time.sleep(0.1)
        stages = medians([line.partition("ms: ")[2] for line in editor.stderr if "answered; ms" in line])
        p50, p95 = statistics.median(wall), wall[int(0.95 * (len(wall) - 1))]
        shown = (statistics.median(first), p50, p95, wall[-1], statistics.median(computed))
        print(f"{name:12s}" + "".join(f"{each:7.0f} ms" for each in shown) + f"   {stages}")
    root = psutil.Process(editor.process.pid)
    resident = [one.memory_info().rss / 2**20 for one in (root, *root.children(recursive=True))]
    print(f"resident: {' + '.join(f'{each:.0f}' for each in resident)} MiB")
    editor.quit()


if __name__ == "__main__":
    main()
