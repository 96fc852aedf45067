"""Kernels of tensor cores as cubins, predicted on the GPUs they are for, beside public figures.

``python -m validation.tensor.kernels FOLDER JOURNAL.jsonl [-o PAGE.md] [--only TEXT]``: FOLDER: cubins that
``kernels.toml`` names (its comments say how each is made from a public checkout; nothing of it is kept
here). What the journal holds is not predicted again. The page says of each how it was found, its time, what
binds, how far that is from its multiply-adds at the tensor cores' rate and the clock, and the public figure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import warpwatt
from validation import ROOT
from warpwatt.core.errors import WarpWattError

HERE = Path(__file__).parent
HEAD = """\
# Kernels of tensor cores

Written by `python -m validation.tensor.kernels` on {date}, rows of {commits}; do not edit.

Public kernels, compiled without a GPU and predicted from their machine code; what a user adds is the launch
and one tensor map or array for each matrix. *TFLOP/s*: by the predicted time; *of peak*: of the multiply-adds
that the tensor cores can do at the predicted clock. Nothing was fitted to these kernels. *Public* figures are
other people's measurements of the same kernel family and shape (sources: `kernels.toml`), often at an unknown
clock.

{answered} of {all} answered from machine code; {below} below the time of their multiply-adds.

| kernel | GPU | shape | time | interval | bound | TFLOP/s | of peak | public | CPU |
|---|---|---|---:|---:|---|---:|---:|---:|---:|
"""


def rows() -> list[dict[str, Any]]:
    """Return the kernels of ``kernels.toml``, one row for each GPU."""
    data = tomllib.loads((HERE / "kernels.toml").read_text(encoding="utf-8"))
    return [
        {**k, "gpu": gpu, "public": k.get("public", {}).get(gpu, "")}
        for k in data["kernel"]
        for gpu in k["gpus"]
    ]


def answer(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return what a prediction says, or why there is none."""
    began = time.process_time()
    try:
        found = warpwatt.predict(
            str(folder / f"{row['cubin']}.cubin"), gpu=row["gpu"], grid=row["grid"], block=row["block"],
            cluster=row.get("cluster", [1]), shared=row["shared"],
            args={str(i): value for i, value in enumerate(row["args"])},
        )  # fmt: skip
    except WarpWattError as error:
        return {"error": str(error)[:300]}
    case, seconds = found.case, found.time.value
    rate = row["flops"] / seconds
    peak = 2 * case.gpu.capability.throughput["tensor_fp16_fma"] * row["factor"] * case.gpu.sm_count
    return {
        "commit": _commit(), "seconds": seconds, "low": found.time.low, "high": found.time.high,
        "tflops": rate / 1e12,
        "of_peak": rate / (peak * case.clocks.sm), "bound": str(found.timing.bottleneck),
        "cpu": time.process_time() - began,
    }  # fmt: skip


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def line(row: dict[str, Any], said: dict[str, Any]) -> str:
    """Return a line of the page."""
    name = [row["name"], row["gpu"].upper(), row["shape"]]
    if "error" in said:
        why = said["error"].split("\n")[0][:120]
        return f"| {' | '.join(name)} | not answered: {why} | | | | | {row['public']} | |\n"
    times = (f"{1e6 * said['seconds']:.0f} µs", f"{1e6 * said['low']:.0f}–{1e6 * said['high']:.0f}")
    numbers = (f"{said['tflops']:.0f}", f"{said['of_peak']:.0%}", str(row["public"]), f"{said['cpu']:.1f} s")
    return f"| {' | '.join((*name, *times, said['bound'], *numbers))} |\n"


def main() -> None:
    """Predict what the journal lacks; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--only", default="", help="predict rows whose key has this text")
    given = parser.parse_args()
    known = {}
    if given.journal.exists():
        known = dict(map(json.loads, given.journal.read_text(encoding="utf-8").splitlines()))
    body = []
    for row in rows():
        key = f"{row['cubin']} {row['gpu']} {row['shape']}"
        if key not in known and given.only in key:
            known[key] = answer(row, given.folder)
            with given.journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps([key, known[key]]) + "\n")
        if key in known:
            body.append((row, known[key]))
    if given.output:
        commits = sorted({said["commit"] for _, said in body if "commit" in said})
        good = [said for _, said in body if "error" not in said]
        head = HEAD.format(
            date=time.strftime("%Y-%m-%d"), commits=", ".join(commits), answered=len(good), all=len(body),
            below=sum(said["of_peak"] > 1 for said in good),
        )  # fmt: skip
        given.output.write_text(head + "".join(line(*pair) for pair in body), encoding="utf-8")


if __name__ == "__main__":
    main()
