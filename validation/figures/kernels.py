"""Kernels of public tutorials beside the times or rates their authors published, board by board.

``python -m validation.figures.kernels FOLDER JOURNAL.jsonl FIGURES.csv [-o PAGE.md]``: FOLDER holds a
checkout of each repository of ``kernels.toml`` under its name, FIGURES.csv the published figures. What
the journal holds is not predicted again. A figure's shape, ``M=N=K=4096 block=256``, gives the launch
its sizes.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median
from typing import Any

from validation import ROOT
from warpwatt.core.errors import WarpWattError
from warpwatt.core.sizes import evaluate
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.session import Session

HEAD = """\
# Published figures of kernels

Written by `python -m validation.figures.kernels` on {date} at commit {commit}; do not edit. Rows that the
journal held are of earlier commits.

Kernels of public repositories from their own files, predicted as a user would (`kernels.toml` says which
launch), beside what their authors published of them. Nothing was fitted to these figures, but that the
rates of block dispatch are chosen on gpu-stream's *init* among others, and that the clock of an RTX 5090
was looked up (in products of matrices that others measured) when its first rows here were a fifth too
slow. At which clock and power limit a board ran is hardly ever said, nor which compiler made the code;
some figures are of a single run. One error per kernel and board, the mean over its shapes. *Ratio*:
predicted by published time; *held*: shares of figures in the interval.

| repository | board | kernels | mean error | median | within 30 % | held | mean ratio | order |
|---|---|--:|--:|--:|--:|--:|--:|--:|
{boards}
*Order*: share of the pairs of kernels of one board and shape, at least 10 % apart in what was published, that
come out in the same order.

| repository | kernel | board | shape | published | predicted | ratio | limited by |
|---|---|---|---|--:|--:|--:|---|
{rows}"""

_SIZE = re.compile(r"((?:\w+=)+)(\d+)")


def sizes(shape: str) -> dict[str, int]:
    """Return the named sizes of a shape.

    >>> sizes("M=N=512 block=64")
    {'M': 512, 'N': 512, 'block': 64}
    """
    return {name: int(value) for names, value in _SIZE.findall(shape) for name in names.split("=")[:-1]}


def rows(figures: Path) -> list[dict[str, Any]]:
    """Return kernels of ``kernels.toml`` with each of their published figures in seconds."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    with figures.open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    found = []
    for source in data["source"]:
        for kernel in source["kernel"]:
            for row in published:
                same = (row["source_repository"], row["kernel"]) == (source["repository"], kernel["figure"])
                known = sizes(row["shape"])
                wanted = kernel.get("dtype", row["dtype"]) == row["dtype"] and all(
                    known.get(name) in values for name, values in source.get("only", {}).items()
                )
                if same and wanted and row["gpu"] in source["gpus"]:
                    given = {**source, **kernel, "sizes": known, "shape": row["shape"], "board": row["gpu"]}
                    found.append({**given, "seconds": seconds(row, given)})
    return found


def seconds(row: dict[str, str], given: dict[str, Any]) -> float:
    """Return a published figure as a time; rates are of the work that ``kernels.toml`` names."""
    value, unit = float(row["value"]), row["unit"]
    if unit in ("ms", "us"):
        return value * {"ms": 1e-3, "us": 1e-6}[unit]
    work = evaluate(str(given["work"]), given["sizes"])
    return work / (value * {"TFLOP/s": 1e12, "GB/s": 1e9}[unit])


def answer(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return what a prediction says, or why there is none; what is launched ``then`` adds its time."""
    said = _launched(row, folder)
    if "error" in said or "then" not in row:
        return said
    then = _launched({**row, **row["then"]}, folder)
    return then if "error" in then else said | {key: said[key] + then[key] for key in ("time", "low", "high")}


def _launched(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    file = folder / row["repository"].partition("/")[2] / row["file"]
    grid, block = (row[key].format_map(row["sizes"]) for key in ("grid", "block"))
    shared = row.get("bytes", row.get("shared", {}).get(row["board"]))
    args = tuple(text.format_map(row["sizes"]) for text in row["args"])
    launch = LaunchText(row["name"], grid, block, shared=shared, l2=row.get("l2", "cold"), arg=args)
    include = tuple(str(file.parents[1] / name) for name in row.get("include", ()))
    compilation = CompilationOptions(
        define=tuple(row.get("define", ())), include=include, flags=tuple(row.get("flags", ()))
    )
    model = ModelOptions(clock=row.get("clock"))
    try:
        (p,) = Session(str(file), row["gpus"][row["board"]], compilation, model, notify=lambda _: None).run(
            launch
        )
    except WarpWattError as error:
        return {"error": " ".join(str(error).replace(f"{folder}/", "").split())[:160]}
    return {"time": p.time.value, "low": p.time.low, "high": p.time.high, "limit": p.timing.bottleneck}


def line(row: dict[str, Any], said: dict[str, Any]) -> str:
    """Return a row of the table."""
    names = " | ".join(row[key] for key in ("repository", "figure", "board", "shape"))
    head = f"| {names} | {1e6 * row['seconds']:.1f} µs |"
    if "error" in said:
        return f"{head} | | no: {said['error'].replace('|', '/')} |"
    ratio = said["time"] / row["seconds"]
    return f"{head} {1e6 * said['time']:.1f} µs | {ratio:.2f} | {said['limit']} |"


def summary(body: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Return a line for each repository and board, and one for all."""
    answered = [(row, said) for row, said in body if "error" not in said]
    groups = defaultdict(list)
    for row, said in answered:
        groups[row["repository"], row["board"]].append((row, said))
    lines = [_of(*key, pairs) for key, pairs in groups.items()]
    return "".join([*lines, _of("**all**", "", answered)])


def _of(repository: str, board: str, pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    kernels = defaultdict(list)
    for row, said in pairs:
        kernels[row["repository"], row["board"], row["figure"]].append(
            (said["time"] / row["seconds"], row, said)
        )
    ratios = [fmean(ratio for ratio, *_ in of) for of in kernels.values()]
    errors = [fmean(abs(ratio - 1) for ratio, *_ in of) for of in kernels.values()]
    held = [said["low"] <= row["seconds"] <= said["high"] for row, said in pairs]
    same = [
        (a["time"] < b["time"]) == (x["seconds"] < y["seconds"])
        for i, (x, a) in enumerate(pairs)
        for y, b in pairs[:i]
        if (x["repository"], x["board"], x["shape"]) == (y["repository"], y["board"], y["shape"])
        and abs(x["seconds"] / y["seconds"] - 1) > 0.1
    ]
    cells = [
        f"{len(errors)}", f"{100 * fmean(errors):.1f} %", f"{100 * median(errors):.1f} %",
        f"{100 * fmean(e <= 0.3 for e in errors):.0f} %", f"{100 * fmean(held):.0f} %",
        f"{fmean(ratios):.2f}", f"{100 * fmean(same):.0f} %" if same else "",
    ]  # fmt: skip
    return f"| {repository} | {board} | {' | '.join(cells)} |\n"


def main() -> None:
    """Predict what the journal lacks; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("figures", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    known = {}
    if given.journal.exists():
        known = dict(map(json.loads, given.journal.read_text(encoding="utf-8").splitlines()))
    body = []
    for row in rows(given.figures):
        key = " ".join((row["repository"], row["figure"], row["board"], row["shape"]))
        if key not in known:
            known[key] = answer(row, given.folder)
            with given.journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps([key, known[key]]) + "\n")
            print(line(row, known[key]), flush=True)
        body.append((row, known[key]))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    page = HEAD.format(
        date=time.strftime("%Y-%m-%d"), commit=commit, boards=summary(body),
        rows="".join(f"{line(*pair)}\n" for pair in body),
    )  # fmt: skip
    if given.output:
        given.output.write_text(page, encoding="utf-8")
    print(summary(body))


if __name__ == "__main__":
    main()
