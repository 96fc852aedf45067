"""What the product says, recorded before a change and compared after it.

Every kernel launch of the corpus (the first of each kernel and size) and every launch that an example
carries, on four GPUs: the JSON document of each prediction, without anything of the command line. A change
that is meant to keep the behaviour shows the largest relative difference of all numbers, and every text that
differs.

    python -m validation.recorded_answers record before.jsonl --gpu h200,a100 --size tiny,medium
    python -m validation.recorded_answers compare before.jsonl after.jsonl
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warpwatt
from validation import ROOT
from warpwatt.compose import predict
from warpwatt.core.errors import WarpWattError
from warpwatt.frontend.load import load_kernel
from warpwatt.frontend.options import CompileOptions
from warpwatt.gpus import find_many
from warpwatt.lab.measure.corpus import Corpus, load_program
from warpwatt.render.document import prediction_document
from warpwatt.render.json import finite

if TYPE_CHECKING:
    from collections.abc import Iterator

FOUR_GPUS = "h200,a100,rtx4090,t4"
WANTED = 1e-9
"""Relative difference up to which two numbers count as the same answer."""
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Question:
    """All launches of one corpus program, or one example file, on some GPUs."""

    program: Path
    gpus: str
    sizes: tuple[str, ...]
    """Sizes of the corpus program; empty: all."""


def main() -> int:
    """Record or compare; return 1 where answers differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--gpu", default=FOUR_GPUS)
    recording.add_argument("--size", default="")
    recording.add_argument("--jobs", type=int, default=2)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    said = parser.parse_args()
    if said.verb == "record":
        sizes = tuple(said.size.split(",")) if said.size else ()
        return record(said.file, said.gpu, sizes, said.jobs)
    return compare(read(said.old), read(said.new))


def record(file: Path, gpus: str, sizes: tuple[str, ...], jobs: int) -> int:
    """Write one line of JSON per answer, ``{"key": ..., "answer": ...}``, in a fixed order."""
    programs = [program.source.with_suffix(".toml") for program in Corpus.load(ROOT / "corpus")]
    examples = sorted((ROOT / "examples").glob("*.cu"))
    questions = [Question(path, gpus, sizes) for path in (*programs, *examples)]
    with file.open("w", encoding="utf-8") as out, ProcessPoolExecutor(jobs) as pool:
        for number, lines in enumerate(pool.map(answers, questions), 1):
            out.writelines(lines)
            out.flush()
            print(f"\r{number}/{len(questions)}", end="", file=sys.stderr)
    return 0


def answers(question: Question) -> list[str]:
    """Return the lines of one question."""
    found = _example(question) if question.program.suffix == ".cu" else _program(question)
    return [
        json.dumps({"key": key, "answer": finite(answer)}, sort_keys=True) + "\n" for key, answer in found
    ]


def _program(question: Question) -> Iterator[tuple[str, Any]]:
    program = load_program(question.program)
    for gpu in find_many(question.gpus):
        for size in program.sizes:
            if question.sizes and size.name not in question.sizes:
                continue
            for name, launch in {one.kernel: one for one in reversed(size.launches)}.items():
                key = f"{program.name} {size.name} {name} {gpu.name}"
                try:
                    kernel = load_kernel(program.source, gpu.target, CompileOptions(), name)
                    yield key, _plain(prediction_document(predict(kernel, launch.launch, gpu)))
                except WarpWattError as error:
                    yield key, str(error)


def _example(question: Question) -> Iterator[tuple[str, Any]]:
    for one in warpwatt.predict_all(question.program, gpu=question.gpus):
        document = prediction_document(one)
        yield f"{question.program.stem} {one.case.kernel.name} {one.case.gpu.name}", _plain(document)


def _plain(document: Any) -> Any:
    """Return a document without the folder that this checkout lies in."""
    return json.loads(json.dumps(finite(document)).replace(f"{ROOT}/", ""))


def read(file: Path) -> dict[str, Any]:
    """Return the recorded answers by key."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return {entry["key"]: entry["answer"] for entry in map(json.loads, lines)}


def compare(old: dict[str, Any], new: dict[str, Any]) -> int:
    """Print how two recordings differ; return 1 where they do."""
    missing, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    largest, different = 0.0, []
    for key in sorted(old.keys() & new.keys()):
        found = list(differences(old[key], new[key]))
        largest = max([largest, *(size for _, size in found)])
        if any(size > WANTED for _, size in found):
            different.append((key, max(found, key=lambda pair: pair[1]), len(found)))
    print(f"{len(old)} answers before, {len(new)} after, {len(missing)} missing, {len(added)} new")
    print(
        f"largest relative difference {largest:.3g}; {len(different)} answers differ by more than {WANTED:g}"
    )
    for key, (path, size), count in sorted(different, key=lambda row: -row[1][1])[:SHOWN]:
        print(f"  {size:9.3g}  {key}: {path}, {count} values")
    for key in missing[:SHOWN]:
        print(f"  missing: {key}")
    return 1 if different or missing else 0


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield where two documents differ and by how much; infinity for what is no number.

    >>> list(differences({"time": [1.0, 2.0]}, {"time": [1.0, 2.5]}))
    [('.time[1]', 0.2)]
    >>> list(differences({"a": "x"}, {"a": "y", "b": 1}))
    [('.a', inf), ('.b', inf)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            if name in old and name in new:
                yield from differences(old[name], new[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}", math.inf
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (left, right) in enumerate(zip(old, new, strict=True)):
            yield from differences(left, right, f"{path}[{index}]")
    elif _number(old) and _number(new):
        if old != new:
            yield path, abs(old - new) / max(abs(old), abs(new))
    elif old != new:
        yield path, math.inf


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


if __name__ == "__main__":
    sys.exit(main())
