"""Launches of gpuFLOPBench's programs predicted again from what is kept, without running anything.

``python -m validation.run.gpuflopbench_again JOURNAL FOLDER NEW [-k PROGRAM]``: FOLDER is that of
``run.gpuflopbench --keep``, NEW is JOURNAL with the times and bytes of today's models. What a launch does
(its instructions, the lines that it touches) stays as it was found.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warpwatt.run.launches import Predicted


def keep(file: Path, rows: Sequence[Mapping[str, Any]], predicted: Sequence[Predicted]) -> None:
    """Keep what the launches of some of a journal's rows do, by their number."""
    numbers = {row["number"] for row in rows if "seconds" in row}
    cases = [(one.request.number, one.predictions[0]) for one in predicted]
    kept = {
        number: (p.case.kernel, p.case.workload.execution, p.case.clocks, p.case.gpu)
        for number, p in cases
        if number in numbers and p is not None
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".new")
    temporary.write_bytes(zlib.compress(pickle.dumps(kept, pickle.HIGHEST_PROTOCOL), 1))
    temporary.replace(file)


def again(files: Sequence[Path], seen: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a journal's rows of a program with what is predicted today where that is kept."""
    from validation.run.gpuflopbench_launches import figures
    from warpwatt.compose import predict

    kept = [pickle.loads(zlib.decompress(file.read_bytes())) for file in files]
    rows, done = [], {}
    part, last = 0, (0, "")
    for row in seen:
        this = row["number"], f"{row['kernel']} {row['grid']}"
        # the rows of a further run begin again; a launch that was measured twice has two rows
        part += this[0] < last[0] or (this[0] == last[0] and this[1] != last[1])
        last = this
        if part >= len(kept) or row["number"] not in kept[part]:
            rows.append(dict(row))
            continue
        kernel, execution, clocks, gpu = kept[part][row["number"]]
        if id(execution) not in done:
            done[id(execution)] = figures(
                predict(kernel, execution.launch, gpu, clocks=clocks, execution=execution)
            )
        rows.append({**row, **done[id(execution)]})
    return rows


def main() -> None:
    """Write the new journal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("-k", dest="part", action="append", default=[], help="only this program")
    given = parser.parse_args()
    entries = {e["program"]: e for e in map(json.loads, given.journal.read_text("utf-8").splitlines())}
    with given.new.open("w", encoding="utf-8") as out:
        for name, entry in entries.items():
            files = sorted(given.folder.glob(f"{name}.[0-9]"))
            if files and (not given.part or name in given.part):
                begun = time.process_time()
                entry["seen"] = again(files, entry["seen"])
                entry["predicting"] = time.process_time() - begun
            out.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
