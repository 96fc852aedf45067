"""Pictures and sentences of the front door, made of the pages under docs/validation: ``make pictures``.

``python -m validation.pictures`` writes ``docs/assets/predicted-measured.svg``, ``error-by-limit.svg`` and
``coverage.svg``, and the sentence between ``<!-- accuracy -->`` and ``<!-- /accuracy -->`` of README.md,
docs/index.md and docs/validation/index.md. ``--report`` also takes those of a report and a comparison, with
Chromium.
"""

from __future__ import annotations

import argparse
import html
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from validation import ROOT

PAGES, ASSETS = ROOT / "docs" / "validation", ROOT / "docs" / "assets"
FRONT = (ROOT / "README.md", ROOT / "docs" / "index.md", PAGES / "index.md")
COUNTERS = "programs_counters.md"
NAIVE = ["predict", "--kernel", "transpose_naive"]
SECONDS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
STYLE = (
    "text{font:13px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#16191d}.soft{fill:#57606a}"
    ".grid{stroke:#d8dde3}.same{stroke:#16191d;stroke-width:1.5}.twice{stroke:#57606a;stroke-dasharray:5 4}"
    ".dram{fill:#0b62c4}.latency{fill:#c2410c}.other{fill:#0f7b46}.bar{fill:#2563eb}"
)
Rows = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: measured seconds, predicted over measured, what limits it."""

    name: str
    measured: float
    ratio: float
    limit: str

    @property
    def error(self) -> float:
        """Relative error without sign."""
        return abs(self.ratio - 1)


def table(page: str, heading: str) -> Rows:
    """Return the rows of the first table under a heading of a page, by the names of their columns."""
    text = (PAGES / page).read_text(encoding="utf-8").partition(f"# {heading}\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert lines is not None, f"{page} has no table {heading!r}"
    head, _, *rows = ([c.strip() for c in line.strip()[1:-1].split("|")] for line in lines[0].splitlines())
    return [dict(reversed([*zip(head, row, strict=False)])) for row in rows]  # of equal names the first


def kernels() -> list[Kernel]:
    """Return every development kernel of whole programs."""
    found = []
    for row in table(COUNTERS, "Every development kernel"):
        number, unit = row["measured"].split()
        ratio = float(row["time"].lstrip("×"))
        limit = row["limited by"]
        found.append(Kernel(f"{row['program']} {row['kernel']}", float(number) * SECONDS[unit], ratio, limit))
    return found


def sentence(found: list[Kernel]) -> str:
    """Return the headline: the test first, then the kernels in which causes were looked for."""
    time = {row[""]: row for row in table(COUNTERS, "Time")}
    own, test = time["development"], time["test"]
    programs = len({one.name.split()[0] for one in found})
    worst = max(max(one.ratio, 1 / one.ratio) for one in found)
    return (
        f"{test['kernels']} kernels of whole programs on which nothing was chosen (HeCBench on an RTX "
        f"3080, beside Nsight Compute): **median error {test['median']}**, {test['≤30 %']} within 30 %, "
        f"{test['≤2×']} within a factor of 2. Of {own['kernels']} more, of {programs} programs whose large "
        f"errors were looked into and some of which constants were chosen on: median {own['median']}, "
        f"{own['≤30 %']} within 30 %, the worst off by ×{worst:,.0f}; these are in the picture."
    )


def _svg(width: int, height: int, title: str, parts: list[str]) -> str:
    said = html.escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="{said}"><style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(text)}</text>'


def _turned(x: float, y: float, text: str) -> str:
    return f'<text transform="translate({x} {y}) rotate(-90)" text-anchor="middle">{html.escape(text)}</text>'


def _path(kind: str, drawn: str) -> str:
    return f'<path class="{kind}" d="{drawn}"/>'


def scatter(found: list[Kernel]) -> str:
    """Return predicted against measured time, both logarithmic, with lines at equal and at twice and half."""
    low, high, left, top, size = 1e-6, 1.0, 70, 16, 460
    top_decade = math.ceil(math.log10(max(one.measured * max(1, one.ratio) for one in found)))
    high = 10.0**top_decade

    def at(seconds: float) -> float:
        return size * math.log10(max(low, seconds) / low) / math.log10(high / low)

    parts = []
    for decade in range(-6, top_decade + 1):
        place, label = (
            at(10.0**decade),
            {-6: "1 µs", -5: "10 µs", -4: "100 µs", -3: "1 ms", -2: "10 ms"}.get(
                decade, f"{10.0**decade:g} s"
            ),
        )
        parts += [
            _path("grid", f"M{left + place:.1f} {top}v{size}M{left} {top + size - place:.1f}h{size}"),
            _text(left + place, top + size + 18, label, "middle", "soft"),
            _text(left - 8, top + size - place + 4, label, "end", "soft"),
        ]
    for factor, kind in ((1.0, "same"), (2.0, "twice"), (0.5, "twice")):
        first, last = max(low, low / factor), min(high, high / factor)
        parts.append(
            f'<path class="{kind}" d="M{left + at(first):.1f} {top + size - at(first * factor):.1f}'
            f'L{left + at(last):.1f} {top + size - at(last * factor):.1f}"/>'
        )
    for one in found:
        x, y = left + at(one.measured), top + size - at(one.measured * one.ratio)
        said = html.escape(f"{one.name}: ×{one.ratio:g}, {one.limit}")
        parts.append(
            f'<circle class="{_kind(one.limit)}" cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill-opacity=".75">'
            f"<title>{said}</title></circle>"
        )
    legend = (("dram", "DRAM bandwidth"), ("latency", "latency"), ("other", "another unit"))
    for number, (kind, name) in enumerate(legend):
        parts += [
            f'<circle class="{kind}" cx="{left + 22}" cy="{top + 22 + 20 * number}" r="5"/>',
            _text(left + 34, top + 26 + 20 * number, name),
        ]
    parts += [
        _text(left + 34, top + 26 + 20 * len(legend), "dashed: twice and half", kind="soft"),
        _text(left + size / 2, top + size + 42, "measured time", "middle"),
        _turned(16, top + size / 2, "predicted time"),
    ]
    return _svg(left + size + 30, top + size + 56, "Predicted against measured time", parts)


def _kind(limit: str) -> str:
    return "dram" if limit.startswith("DRAM") else "latency" if limit.startswith("latency") else "other"


def bars(title: str, rows: list[tuple[str, float, str]], full: float, line: float | None = None) -> str:
    """Return bars, each below its name, to fit a telephone; ``line`` marks what they should reach."""
    width, step = 340, 38
    parts = []
    for number, (name, value, text) in enumerate(rows):
        y, length = 8 + step * number, width * min(1.0, value / full)
        parts += [
            _text(2, y + 11, name),
            f'<rect class="bar" x="2" y="{y + 16}" width="{length:.1f}" height="12" rx="2"/>',
            _text(length + 9, y + 26, text + " (bar cut)" * (value > full), kind="soft"),
        ]
    height = 8 + step * len(rows)
    if line is not None:
        marks = "".join(f"M{2 + width * line / full:.1f} {20 + step * n}v20" for n in range(len(rows)))
        parts.append(f'<path class="same" d="{marks}"/>')
    return _svg(width + 130, height, title, parts)


def by_limit() -> str:
    """Return the median error by what limits."""
    rows = table(COUNTERS, "By what limits, in the prediction (development)")
    told = [
        (row[""], float(row["median"].rstrip("% ")), f"{row['median']} of {row['kernels']}") for row in rows
    ]
    return bars("Median error by what limits, percent", told, 60.0)


def coverage() -> str:
    """Return the share of measured values inside the 80 % interval, data set by data set."""
    time = {row[""]: row for row in table(COUNTERS, "Time")}
    unseen = [
        next(
            row
            for row in table("time_unseen.md", heading)
            if row["model"] == "pipeline" and row["GPU"] == "all"
        )
        for heading in ("Applications, highest clock", "Operators")
    ]
    power = next(
        row
        for row in table("power_models.md", "From specification, GPU and program unseen")
        if "all analysed" in row["data"]
    )
    found = [
        ("time, whole programs", time["development"]["held"], time["development"]["kernels"]),
        ("time, whole programs, test", time["test"]["held"], time["test"]["kernels"]),
        ("time, applications", unseen[0]["held"], unseen[0]["cases"]),
        ("time, PyTorch operators", unseen[1]["held"], unseen[1]["cases"]),
        ("power, GPU and program unseen", power["held"], power["rows"]),
    ]
    rows = [(name, float(held.rstrip("% ")), f"{held} of {count}") for name, held, count in found]
    return bars("Share of measured values inside the 80 % interval", rows, 100.0, 80.0)


def place(text: str) -> None:
    """Write the sentence between its marks, wherever a page has them."""
    for page in FRONT:
        old = page.read_text(encoding="utf-8")
        new = re.sub(
            r"(<!-- accuracy -->\n).*?(<!-- /accuracy -->)",
            lambda m: f"{m[1]}{text}\n{m[2]}",
            old,
            flags=re.DOTALL,
        )
        page.write_text(new, encoding="utf-8")


def photograph(target: Path, source: str, words: list[str], size: tuple[int, int], part: str = "") -> None:
    """Write the page of a command and save a picture of its first screen, or of one part of it."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        shutil.copy(ROOT / "examples" / source, folder)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-m", "warpwatt", words[0], source, *words[1:], "-o", "page.html"]
        subprocess.run(command, check=True, cwd=folder, env=environment)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="light")
        page.goto((Path(folder) / "page.html").as_uri())
        page.wait_for_timeout(500)
        (page.locator(part).first if part else page).screenshot(path=str(target))
        browser.close()
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)


def main() -> None:
    """Write all pictures and sentences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="pictures of a report and a comparison, too")
    asked = parser.parse_args()
    found = kernels()
    (ASSETS / "predicted-measured.svg").write_text(scatter(found), encoding="utf-8")
    (ASSETS / "error-by-limit.svg").write_text(by_limit(), encoding="utf-8")
    (ASSETS / "coverage.svg").write_text(coverage(), encoding="utf-8")
    place(sentence(found))
    if asked.report:
        photograph(ASSETS / "report.png", "transpose.cu", [*NAIVE, "--gpu", "a100"], (1100, 760))
        sides = ["compare", "--kernel", "transpose_naive/transpose_shared", "--gpu", "a100"]
        photograph(ASSETS / "compare.png", "transpose.cu", sides, (1100, 900), "section.code")


if __name__ == "__main__":
    main()
