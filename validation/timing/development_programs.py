"""Keep what the launches of whole programs execute, beside what was measured, for the fixed sample.

``python -m validation.timing.development_programs CHECKOUT BUILDS JOURNAL OUT``: gpuFLOPBench's programs that
``run.gpuflopbench`` built into the folders BUILDS (separated by colons) are run again and their matched
launches pickled into OUT, a file each; those whose computing and predicting took under ``--most`` seconds of
CPU in JOURNAL.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from validation.run.gpuflopbench import ENVIRONMENT, known
from validation.run.gpuflopbench_launches import CLOCKS, GPU, Watch, base_name
from validation.run.gpuflopbench_programs import Program, is_test, programs
from validation.timing.cases import Code, Measured
from validation.timing.development import MOST_SECONDS
from warpwatt.gpus import find
from warpwatt.native.demangle import demangle
from warpwatt.request.choices import parse_clocks
from warpwatt.run.client import Bounds, run_program
from warpwatt.run.session import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from warpwatt.core.execution import Execution
    from warpwatt.core.program import Kernel
    from warpwatt.run.device import Device

DATA, TEST = "programs", "programs, test fifth"


def main() -> None:
    """Keep what is not kept, a process for each program; or be that process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("builds")
    parser.add_argument("journal", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=float, default=20.0, help="CPU seconds of each program")
    parser.add_argument(
        "--most", type=float, default=MOST_SECONDS, help="CPU seconds it may have needed before"
    )
    parser.add_argument("--child", default="")
    given = parser.parse_args()
    ours = {program.name: program for program in programs(given.checkout.resolve())}
    folders = [Path(folder) for folder in given.builds.split(":")]
    if given.child:
        built = next(f / given.child for f in folders if (f / given.child).exists())
        keep(ours[given.child], built, given.out, given.limit)
        return
    given.out.mkdir(exist_ok=True)
    journal = known(given.journal)
    for name, program in sorted(ours.items()):
        file = given.out / f"{name}.launches"
        built = any((folder / name).exists() for folder in folders)
        if file.exists() or not built or _cost(journal.get(name, {})) > given.most:
            continue
        command = [sys.executable, "-m", "validation.timing.development_programs", *sys.argv[1:]]
        done = subprocess.run(
            [*command, "--child", name], cwd=program.folder, env=ENVIRONMENT, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        print("test" if is_test(name) else f"{name}: {done.returncode}", flush=True)


def _cost(entry: Mapping[str, Any]) -> float:
    """Return the CPU seconds that a program's launches took, infinity where none was seen."""
    return float(entry["computing"] + entry["predicting"]) if entry.get("seen") else math.inf


def keep(program: Program, built: Path, out: Path, limit: float) -> None:
    """Run a program and keep its measured launches."""
    gpu = find(GPU)
    wanted = {kernel: len(rows) for kernel, rows in program.kernels.items()}
    device = Wanted(
        [gpu], clocks=[parse_clocks(CLOCKS, gpu)], budget=limit / 2, flush_l2=True, notify=print
    ).device()
    command = ["prlimit", f"--cpu={limit:.0f}", str(built), *program.arguments]
    with tempfile.TemporaryFile("w+") as said:
        try:
            run_program(command, device, Bounds(4 * limit, 8 << 30), said, Watch(wanted))
            if not device.ended:
                device.finish()
        finally:
            device.arena.close()
    found = _measured(program, device)
    (out / f"{program.name}.launches").write_bytes(zlib.compress(pickle.dumps(found)))
    print(json.dumps({"launches": len(found)}))


def _measured(program: Program, device: Device) -> list[tuple[Measured, Kernel, Execution]]:
    """Return the launches that were measured and predicted, matched by kernel, order and shape."""
    seen: Counter[str] = Counter()
    found = []
    for one in device.predicted:
        name, prediction = base_name(demangle(one.request.kernel)), one.predictions[0]
        number, rows = seen[name], program.kernels.get(name, [])
        seen[name] += 1
        launch = one.request.launch
        shape = tuple((e.x, e.y, e.z) for e in (launch.grid, launch.block))
        if number >= len(rows) or prediction is None or one.borrowed_from:
            continue
        if shape != (rows[number].grid, rows[number].block):
            continue
        case = replace(prediction.case, kernel=replace(prediction.case.kernel, ptx=None))
        data = TEST if is_test(program.name) else DATA
        code = Code(Path(program.name), name)
        title = program.name if data == DATA else "test"
        run = Measured(
            data, case.gpu.name, f"{title} {name}" if data == DATA else title, str(number), code,
            (case.launch,), rows[number].seconds, case.clocks,
        )  # fmt: skip
        found.append((run, case.kernel, case.workload.execution))
    return found


if __name__ == "__main__":
    main()
