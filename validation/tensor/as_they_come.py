"""Kernels of public projects from their own files, on five GPUs: answered from machine code or why not.

``python -m validation.tensor.as_they_come FOLDER JOURNAL.jsonl [-o PAGE.md] [--only TEXT]``: FOLDER has the
projects of ``as_they_come.toml`` under their names there, programs in ``bin``; what the journal holds
is not predicted again.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tomllib
from pathlib import Path
from time import process_time
from typing import Any

from validation import ROOT
from warpwatt.core.arguments import Buffer
from warpwatt.core.errors import WarpWattError
from warpwatt.core.ranking import not_followed
from warpwatt.gpus.load import find
from warpwatt.request.launch_text import LaunchText
from warpwatt.request.options import CompilationOptions, ModelOptions
from warpwatt.request.session import Session

GPUS = ("a100", "h100", "h200", "b200", "rtx-5090")
LONGEST = 400
"""Seconds that a run may take."""
HEAD = """\
# Kernels as they come

Written by `python -m validation.tensor.as_they_come`; do not edit.

Files of public projects as they come (`as_they_come.toml` names versions), predicted without a GPU,
PyTorch or the project; the user adds the launch: grid, arguments by name, constants; of CUDA C++ also folders
of headers (`-I`) and template arguments; of programs (*run*) the command line alone, as `warpwatt run` makes
their arguments. No line of a file was changed. Programs for one architecture have rows of its GPUs alone.
*Bound*: what is read must come from memory once, and products take the tensor cores' time at boost. *Public*:
other people's figures of the kernel family at this shape, at unknown clocks. Commits: {commits};
† rows, of programs and files that were not predicted again, are of earlier ones ({earlier}).

**{answered} of {all} answered from machine code, {below} below their bounds**; CPU of a prediction,
compilation and the loading of compilers included: median {median:.1f} s, largest {largest:.1f} s.

| project | kernel | GPU | time | interval | bound | limited by | public | answered |
|---|---|---|--:|--:|--:|---|---|---|
"""


def rows() -> list[dict[str, Any]]:
    """Return kernel and GPU of every row."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    kernels = [{**kernel, "gpu": gpu} for kernel in data["kernel"] for gpu in GPUS]
    return kernels + [{**program, "gpu": gpu} for program in data["program"] for gpu in program["gpus"]]


def key_of(row: dict[str, Any]) -> str:
    """Return what the journal calls a row."""
    return f"{row.get('file') or row['project']} {row['name']} {row['gpu']}"


def answer(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return what a prediction says, or why there is none."""
    began = process_time()
    file = folder / row["file"]
    folders = (file.parent, *(folder / name for name in row.get("include", ())))
    flags = tuple(f"-I{name}" for name in folders) if file.suffix in (".cu", ".cuh") else ()
    compilation = CompilationOptions(define=tuple(row.get("define", ())), flags=flags)
    block, shared = row.get("block"), row.get("shared")
    launch = LaunchText(row["name"], row["grid"], block=block, shared=shared, arg=tuple(row["args"]))
    try:
        (p,) = Session(str(file), row["gpu"], compilation, ModelOptions(), notify=lambda _: None).run(launch)
    except WarpWattError as error:
        return {"error": " ".join(str(error).split())[:160]}
    gpu, given = p.case.gpu, p.case.launch.arguments
    read = sum(b.nbytes for name, b in given.items() if isinstance(b, Buffer) and name not in row["out"])
    rate = 2 * gpu.capability.throughput["tensor_fp16_fma"] * gpu.sm_count * gpu.boost_clock
    bound = max(read / gpu.memory_bandwidth, row.get("flops", 0) / rate)
    return {
        "commit": _commit(), "time": p.time.value, "low": p.time.low, "high": p.time.high, "bound": bound,
        "limit": p.timing.bottleneck, "remark": not_followed([p]), "cpu": process_time() - began,
    }  # fmt: skip


def programs(row: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Return what one run of a program says of the launch meant, for all of its GPUs, by GPU."""
    binary = folder / "bin" / row["name"].rpartition("/")[2]
    command = [sys.executable, "-m", "warpwatt", "run", "--gpu", ",".join(row["gpus"])]
    command += [
        "--launches",
        str(row["launches"]),
        "--budget",
        "20",
        "--format",
        "json",
        str(binary),
        *row["args"],
    ]
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return {gpu: {"error": f"not done in {LONGEST} s beside other work"} for gpu in row["gpus"]}
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
    start = done.stdout.find("{\n")
    if start < 0:
        return {gpu: {"error": " ".join(done.stderr.split())[-160:]} for gpu in row["gpus"]}
    said = json.loads(done.stdout[start:])
    return {
        gpu: _of_run(row, run, said, cpu / len(row["gpus"]))
        for gpu, run in zip(row["gpus"], said["runs"], strict=True)
    }


def _of_run(row: dict[str, Any], run: dict[str, Any], said: dict[str, Any], cpu: float) -> dict[str, Any]:
    meant = [k for k in run["kernels"] if row["kernel"] in k["name"] and k["prediction"] is not None]
    if not meant:
        why = said["failures"] or [said["ended"] or "the kernel was not launched"]
        return {"error": " ".join(str(why[0]).split())[:160]}
    kernel, found = meant[-1], said["predictions"][meant[-1]["prediction"]]
    board = find(run["gpu"])
    rate = 2 * board.capability.throughput["tensor_fp16_fma"] * board.sm_count * board.boost_clock
    read = sum(a["bytes"] for a in found["launch"]["arguments"].values() if a["kind"] == "buffer")
    reached = min(read, found["workload"]["dram"]["read"]) if read else found["workload"]["dram"]["read"]
    return {
        "commit": _commit(), "time": kernel["mean"],
        "low": found["time"]["low"], "high": found["time"]["high"],
        "bound": max(reached / board.memory_bandwidth, row.get("flops", 0) / rate),
        "limit": found["bottleneck"], "cpu": cpu,
        "remark": "" if found["analysis"]["method"] == "emulated" else "not followed",
    }  # fmt: skip


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def line(row: dict[str, Any], said: dict[str, Any]) -> str:
    """Return a row of the table."""
    project = row["project"] if "project" in row else row["file"].partition("/")[0]
    head = f"| {project} | `{row['name']}` | {row['gpu']} |"
    public = row.get("public", {}).get(row["gpu"], "")
    mark = " †" if said.get("earlier") else ""
    if "error" in said:
        return f"{head} | | | | {public} | no: {said['error'].replace('|', '/')}{mark} |"
    time, low, high, bound = (f"{1e6 * said[key]:.1f}" for key in ("time", "low", "high", "bound"))
    way = ", ".join(["run", *([row["added"]] if "added" in row else [])]) if "project" in row else ""
    how = f"no: {said['remark']}" if said["remark"] else f"yes ({way})" if way else "yes"
    return f"{head} {time} µs | {low}–{high} | {bound} | {said['limit']} | {public} | {how}{mark} |"


def predicted(row: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Return what is said of a row, by journal key; a run answers for all of its program's GPUs."""
    if "project" not in row:
        return {key_of(row): answer(row, folder)}
    return {key_of({**row, "gpu": gpu}): found for gpu, found in programs(row, folder).items()}


def main() -> None:
    """Predict what is missing and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--only", default="", help="predict rows whose key has this text")
    asked = parser.parse_args()
    known = {}
    if asked.journal.exists():
        known = dict(json.loads(text) for text in asked.journal.read_text().splitlines())
    for row in rows():
        if key_of(row) not in known and asked.only in key_of(row):
            found = predicted(row, asked.folder)
            known |= found
            with asked.journal.open("a") as out:
                out.writelines(json.dumps(pair) + "\n" for pair in found.items())
    said = [(row, known[key_of(row)]) for row in rows() if key_of(row) in known]
    good = [s for _, s in said if "time" in s and not s["remark"]]
    cpu = sorted(s["cpu"] for s in good if "cpu" in s)
    below = sum(s["time"] < s["bound"] for s in good)
    head = HEAD.format(
        answered=len(good), all=len(said), below=below, median=cpu[len(cpu) // 2], largest=cpu[-1],
        commits=", ".join(sorted({s["commit"] for _, s in said if "commit" in s})),
        earlier=", ".join(sorted({s["earlier"] for _, s in said if "earlier" in s})) or "none",
    )  # fmt: skip
    page = head + "\n".join(line(*one) for one in said) + "\n"
    if asked.output:
        asked.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
