"""One program of gpuFLOPBench under ``warpwatt run``: its launches, predicted, as JSON on stdout.

``python -m validation.run.gpuflopbench_launches LIMIT BUDGET WANTED.json PROGRAM [ARGS]...``: WANTED has
for each kernel how many of its launches were measured (``counts``), and the file that keeps what they do
(``keep``, empty: none); the program is ended once they all were seen, or after LIMIT seconds of its own CPU
time. Predicting has half the limit, computing BUDGET seconds.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.run.gpuflopbench_again import keep
from warpwatt.core.program import Flow, Unit
from warpwatt.gpus import find
from warpwatt.models.registry import time_model
from warpwatt.native.demangle import demangle
from warpwatt.request.choices import parse_clocks
from warpwatt.run.client import Bounds, StoppedError, run_program
from warpwatt.run.codes import Type
from warpwatt.run.protocol import Function, Header, Launch
from warpwatt.run.session import Wanted

if TYPE_CHECKING:
    from warpwatt.core.execution import Execution
    from warpwatt.core.launch import Dim3
    from warpwatt.core.prediction import Prediction
    from warpwatt.run.device import Device
    from warpwatt.run.launches import Predicted

GPU, CLOCKS = "rtx3080", "1440,9501"
ENOUGH = "all measured launches were seen"
WALL = 8
"""Wall time that a program may take, in limits of CPU time: the machine may have other work."""


class Watch:
    """Ends the program once all wanted launches have been asked for."""

    def __init__(self, wanted: Mapping[str, int]) -> None:
        self._missing = Counter(wanted)
        self._names: dict[int, str] = {}

    def __call__(self, header: Header, data: bytes, _: float) -> None:
        """See a message."""
        if header.type == Type.FUNCTION:
            record = Function.unpack(data)
            self._names[record.function] = base_name(demangle(record.data.decode().rstrip("\0")))
        elif header.type == Type.LAUNCH:
            self._missing[self._names.get(Launch.unpack(data).function, "")] -= 1
            if all(count <= 0 for count in self._missing.values()):
                raise StoppedError(ENOUGH)


def base_name(name: str) -> str:
    """Return a function's name as ``ncu -k`` matches it: no type, scope, template or parameters.

    >>> base_name("void (anonymous namespace)::k<2, f<int>(int)>(float*)"), base_name("a::b(int)")
    ('k', 'b')
    """
    name = name.replace("(anonymous namespace)::", "")
    depth, kept = 0, ""
    for letter in name:
        if letter == "(" and not depth:
            break
        depth += (letter == "<") - (letter == ">")
        kept += letter if not depth and letter != ">" else ""
    return kept.split()[-1].rpartition("::")[2] if kept.split() else name


def main() -> None:
    """Run the program and print what is known of its launches."""
    limit, budget = float(sys.argv[1]), float(sys.argv[2])
    asked = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
    wanted = asked["counts"]
    gpu = find(GPU)
    device = Wanted(
        [gpu],
        clocks=[parse_clocks(CLOCKS, gpu)],
        budget=budget,
        notify=lambda text: print(text, file=sys.stderr),
        flush_l2=True,
    ).device()
    command = ["prlimit", f"--cpu={limit:.0f}", *sys.argv[4:]]
    device.predictor.budget = limit / 2
    try:
        ending = run_program(command, device, Bounds(WALL * limit, 8 << 30), sys.stderr, Watch(wanted))
        if not device.ended:
            device.finish()
    finally:
        device.arena.close()
    account = _account(device, ending.status, ending.reason, wanted)
    if asked["keep"]:
        keep(Path(asked["keep"]), account["seen"], device.predicted)
    print(json.dumps(account))


def _account(device: Device, status: int, reason: str, wanted: Mapping[str, int]) -> dict[str, Any]:
    seen: Counter[str] = Counter()
    found = []
    contents = 0
    for one in device.predicted:
        prediction = one.predictions[0]
        clean = prediction is not None and not any("contents" in a.parameter for a in prediction.assumptions)
        contents += clean
        name = base_name(demangle(one.request.kernel))
        seen[name] += 1
        if seen[name] <= wanted.get(name, 0):
            found.append(_launch(one, name, clean=clean))
    return {
        "status": status,
        "reason": reason,
        "launches": len(device.predicted),
        "clean": contents,
        "unsupported": sorted(device.unsupported),
        "given_up": device.executor.first_not_computed,
        "computing": device.executor.spent,
        "predicting": device.predictor.spent,
        "warp_instructions": device.executor.instructions,
        "seen": found,
    }


def _launch(one: Predicted, name: str, *, clean: bool) -> dict[str, Any]:
    launch, prediction = one.request.launch, one.predictions[0]
    shape = {
        "kernel": name,
        "number": one.request.number,
        "grid": _extent(launch.grid),
        "block": _extent(launch.block),
    }
    if prediction is None or one.borrowed_from:
        return {**shape, "failure": (one.failures or ("like another launch: no time left",))[0]}
    return {**shape, **figures(prediction), "clean": clean}


def figures(prediction: Prediction) -> dict[str, Any]:
    """Return what the journal has of a predicted launch: its time, bytes and operations."""
    work = prediction.case.workload
    roofline = time_model("roofline").predict(prediction.case)
    return {
        "seconds": prediction.time.value,
        "low": prediction.time.low,
        "high": prediction.time.high,
        "bottleneck": prediction.timing.bottleneck,
        "roofline": roofline.time.value,
        "dram": work.dram.total,
        "written": work.dram.written,
        **_operations(work.execution),
        "found_by": _found_by(work.execution),
        "assumptions": sorted({a.parameter for a in prediction.assumptions}),
    }


def _extent(one: Dim3) -> list[int]:
    return [one.x, one.y, one.z]


def _operations(execution: Execution) -> dict[str, Any]:
    """Return operations of predicated-on threads, and threads by opcode."""
    opcodes: Counter[str] = Counter()
    flops = {Unit.FP32: 0.0, Unit.FP64: 0.0}
    for i, count, lanes in zip(
        execution.program.instructions, execution.counts, execution.lanes, strict=True
    ):
        if i.flow is Flow.NEXT and count:
            opcodes[".".join(i.opcode.split(".")[:2])] += round(count * lanes)
        if i.unit in flops:
            flops[i.unit] += i.flops * count * lanes
    code = 16 * sum(count > 0 for count in execution.counts)
    return {"fp32": flops[Unit.FP32], "fp64": flops[Unit.FP64], "opcodes": dict(opcodes), "code": code}


def _found_by(execution: Execution) -> str:
    """Return how it is known what the launch does."""
    level = execution.program.level.value
    if not execution.blocks_run:
        return f"{level}, analysis"
    blocks = execution.launch.grid.count
    return f"{level}, whole grid" if execution.blocks_run >= blocks else f"{level}, sample"


if __name__ == "__main__":
    main()
