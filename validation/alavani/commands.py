"""What a user types for every part of Alavani's two documents, its key number and the document's beside it.

    python -m validation.alavani.commands

Runs the command line in this process (``commands.toml``) and writes ``docs/validation/alavani_commands.md``;
needs ``../shared/data`` and the extra ``learn``; a minute.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from click.testing import CliRunner

from validation import ROOT
from validation.alavani import ten_kernels
from validation.alavani.published_errors import table_4_2, table_4_8
from validation.alavani.worked_examples import EXAMPLES
from warpwatt.commands.main import app
from warpwatt.lab.measure.device import Sample
from warpwatt.lab.measure.readings import corrected_power
from warpwatt.models.trained.file import read
from warpwatt.published.alavani.features.described import descriptions
from warpwatt.published.alavani.power.model import FILES as SHIPPED_TABLES
from warpwatt.published.alavani.power.model import model_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PAGE = ROOT / "docs" / "validation" / "alavani_commands.md"
ROWS = Path(__file__).with_suffix(".toml")
DATA = ROOT.parent / "shared" / "data"
THIRTY = Path(tempfile.gettempdir()) / "warpwatt-thirty"
FILES = {
    **{
        f"{name}.csv": DATA / "alavani_power" / f"power_model_inputs_{name}.csv"
        for name in ("k20_smaller", "maxwell", "v100")
    },
    "counters.csv": DATA
    / "nv_dvfs_benchmark_wsl"
    / "gtx980_high_dvfs_real_small_workload_performance_power.csv",
    "thirty_m60.csv": THIRTY / "m60.csv",
    "thirty_v100.csv": THIRTY / "v100.csv",
}
"""Short names of tables to where they lie; the last two are written here."""
VECTOR_ADD = ("vectorAdd", "VectAdd")
"""The kernel's name in the two tables of times."""
THESIS_C = 0.84
"""C of equation (5.5), seconds."""


def run(commands: str, folder: Path) -> str:
    """Return what commands write, and the constants of a calibration."""
    found = []
    for command in filter(None, commands.split(" && ")):
        words = [str(FILES.get(word, word.replace("OUT", str(folder)))) for word in command.split()]
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        if done.exit_code:
            raise RuntimeError(f"{command}: {done.output[-500:]}")
        found += [done.stdout, done.stderr]
    constants = folder / "c.toml"
    return "\n".join([*found, constants.read_text(encoding="utf-8") if constants.exists() else ""])


def number(how: str, output: str) -> float:
    """Return the key number of an output, read as ``commands.toml`` says."""
    kind, *path = how.split(":")
    if how in READERS:
        return READERS[how](output)
    if kind == "csv":
        rows = csv.DictReader(io.StringIO(output[output.index("program,") :]))
        return float(next(row for row in rows if row["convention"] == path[1])[path[0]])
    if kind == "json":
        value = first_prediction(output)
        for key in path:
            value = value[int(key) if key.isdigit() else key]
        return float(value)
    return matched(how, output)


def first_prediction(output: str) -> Any:
    """Return the first prediction of a JSON document."""
    return json.JSONDecoder().raw_decode(output[output.index("{") :])[0]["predictions"][0]


def matched(pattern: str, output: str) -> float:
    """Return the number that a pattern's group holds."""
    found = re.search(pattern, output)
    if found is None:
        raise RuntimeError(f"{pattern!r} is not in: {output[:500]}")
    return float(found[1])


def reserved(output: str) -> float:
    """Return the cycles from begin to end of the first load in a reservation table."""
    begin, end = (
        matched(rf"M1\s+ld\.global\.f32\s+LSU\s+{part}", output) for part in (r"(\d+)-", r"\d+-(\d+)")
    )
    return end - begin


def agreeing(_: str) -> float:
    """Return how many figures of the worked examples are as printed, or misprinted for a stated reason."""
    return float(sum(figure.agrees for make in EXAMPLES.values() for figure in make()))


def remaining(output: str) -> float:
    """Return how many of the document's fifteen features were selected, less those that it has not."""
    gone = set(re.findall(r"(?m)^not learned from: (\w+)", output))
    kept = [said.final for name, said in descriptions().items() if name not in gone]
    return float(sum(1 if final else -1 for final in kept))


def energy_over_product(output: str) -> float:
    """Return energy over power × time."""
    found = first_prediction(output)
    energy, power, time = (found[name]["value"] for name in ("energy", "power", "time"))
    return float(energy / power / time)


def instructions(output: str) -> float:
    """Return the instructions per cycle and SM of all classes."""
    return float(sum(first_prediction(output)["instructions_per_cycle"].values()))


def corrected(_: str) -> float:
    """Return what the correction (5.5) adds to a ramp of 10 W/s with the thesis' C."""
    ramp = [Sample(i / 10, 100.0 + i) for i in range(11)]
    found = corrected_power(ramp, THESIS_C)
    assert found is not None
    return found - 105.0


READERS: Mapping[str, Callable[[str], float]] = {
    one.__name__: one for one in (reserved, agreeing, remaining, energy_over_product, instructions, corrected)
}


def printed(value: float | str) -> float:
    """Return the document's number; of a table that of vectorAdd."""
    if isinstance(value, float):
        return value
    rows = table_4_2() if value == "table_4_2" else table_4_8("K20")
    return next(row.predicted for row in rows if row.kernel in VECTOR_ADD)


HEAD = """# Alavani's documents, as commands

Written by `python -m validation.alavani.commands` on {date} at commit {commit}; do not edit.

Every part of the thesis (A) and of the article on power (B) with what a user types (`warpwatt ...`), the
key number of its output, the document's, and the difference. `k20_smaller.csv`, `maxwell.csv` and
`v100.csv` are the tables the author released, `counters.csv` one of NV-DVFS-Benchmark's. Trainings are
by row, as published, seed 0 alone.
"""
SHIPPED = """## The model that ships: `--model power=alavani`

XGBoost, 200 trees of depth 4 on the fifteen published features, a model for each released table; the
settings were chosen among seven on the splits by program that stand here. By row, other launches of a
program are in training; by program, none.
"""
TRANSFER = """## Carried over: `warpwatt train thirty.csv --transfer alavani-k20`

Thirty rows of another GPU's released table, drawn with seed 0, each left out once.
"""
TEN = """## Features of kernels beside the released rows

`warpwatt features --gpu k20 --convention published` for own versions of released kernels, at the
launches of the rows. Equal: within 1 %; close: within 25 %. Our sources are not the benchmarks' (tiles,
unrolling and data differ), and registers are those of sm_75: nn, whose PTX the thesis prints, shows what
the extraction is worth.
"""
SHIPPED_HEAD = (
    "| GPU | rows | programs | R² by row | MAPE by row, % | R² by program | MAPE by program, % "
    "| R² of the mean |"
)


def page() -> str:
    """Return the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = [
            _head(),
            *_table(folder),
            "",
            SHIPPED,
            *_shipped(),
            "",
            *_by_program(),
            "",
            TRANSFER,
            *_transfer(folder),
            "",
            TEN,
        ]
    return "\n".join([*parts, *ten_kernels.table(), ""])


def _head() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return HEAD.format(date=datetime.datetime.now(tz=datetime.UTC).date(), commit=commit)


def _table(folder: Path) -> Iterator[str]:
    whole = tomllib.loads(ROWS.read_text(encoding="utf-8"))
    yield "| part | key number | command | ours | document | difference | |"
    yield "|---|---|---|---:|---:|---:|---|"
    for row in whole["row"]:
        command = row["command"].format(**whole["commands"])
        ours = number(row["read"], run(command, folder)) * row.get("scale", 1.0)
        theirs = printed(row["printed"])
        shown = command.replace(whole["commands"]["select"], "--features ...").replace("OUT/", "")
        cells = (
            row["part"],
            row["what"],
            f"`{shown.replace(' --force', '')}`" if command else "",
            f"{ours:.4g}",
            f"{theirs:.4g}",
            f"{100 * (ours / theirs - 1):+.1f} %",
            row.get("note", ""),
        )
        yield f"| {' | '.join(cells)} |"


def _shipped() -> list[str]:
    lines = [SHIPPED_HEAD, "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for table in SHIPPED_TABLES:
        card = read(model_file(table)).card
        row, program = card["other split"]["mean"], card["figures"]["xgboost"]["pooled"]
        data, mean = card["data"], card["figures"]["mean"]["pooled"]
        lines.append(
            f"| {table} | {data['rows']} | {data['programs']} | {row['r2']:.3f} | {row['mape']:.1f} "
            f"| {program['r2']:.3f} | {program['mape']:.1f} | {mean['r2']:.3f} |"
        )
    return lines


def _by_program() -> Iterator[str]:
    """Yield each program's rows and errors on the three GPUs, predicted without the program."""
    cards = [read(model_file(table)).card["held out by program"] for table in SHIPPED_TABLES]
    yield "| program: rows, MAPE in % without it in training | " + " | ".join(SHIPPED_TABLES) + " |"
    yield "|---|" + "---:|" * len(cards)
    for name in sorted({name for card in cards for name in card}):
        cells = [f"{card[name]['rows']}, {card[name]['mape']:.0f}" if name in card else "" for card in cards]
        yield f"| {name} | {' | '.join(cells)} |"


def _transfer(folder: Path) -> list[str]:
    lines = ["| to | as it was | constant mean | by quantiles | by a line |", "|---|---:|---:|---:|---:|"]
    for name, gpu in (("maxwell", "m60"), ("v100", "v100")):
        _draw(FILES[f"{name}.csv"], FILES[f"thirty_{gpu}.csv"])
        output = run(f"train thirty_{gpu}.csv --transfer alavani-k20 --gpu {gpu} -o OUT/{gpu}.json", folder)
        titles = ("Model as it was", "Constant mean", "By quantiles", "By a line")
        figures = [matched(rf"{title}.*?(\S+)\n", output) for title in titles]
        lines.append(f"| {gpu}, MAPE | " + " | ".join(f"{x:.1f} %" for x in figures) + " |")
    return lines


def _draw(source: Path, target: Path, count: int = 30) -> None:
    """Write some rows of a table under its header; cells that are not numbers keep their row out."""
    with source.open(encoding="utf-8-sig", newline="") as file:
        head, *body = list(csv.reader(file))
    good = [row for row in body if row[head.index("Power")] and "#DIV/0!" not in row]
    chosen = np.sort(np.random.default_rng(0).choice(len(good), count, replace=False))
    target.parent.mkdir(exist_ok=True)
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *(good[int(i)] for i in chosen)])


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
