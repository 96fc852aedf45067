"""The block model of Boughzala et al. (2020): its printed figures, SimGrid, and public size sweeps.

Run ``python -m validation.boughzala.block_model --shared FOLDER`` from the repository root; the folder
(default
``../shared``) holds the public data and the paper's tables. Writes ``docs/validation/boughzala.md``.
"""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.boughzala.page import page, powerquant_section, textbook_section
from validation.boughzala.sweeps import POWERQUANT, powerquant, textbook
from validation.timing.pmpp import FILE
from warpwatt.gpus import find
from warpwatt.jobs.hosts import Host, State
from warpwatt.jobs.jobs import Fixed, Job
from warpwatt.jobs.platform import one_node
from warpwatt.jobs.simulation import hosts, simulate, tasks
from warpwatt.published.boughzala import Form, Sample, fit, simgrid
from warpwatt.published.boughzala.platform_file import block_state, platform_xml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

PAGE = ROOT / "docs" / "validation" / "boughzala.md"
LONG_SECONDS = 0.5
ROUND_SECONDS = 14 * 1024 / 3413
"""T_r of vectorAdd on the M2075, inferred: a round of 14 blocks of 1024 threads at Figure 3's 3413 flop/s."""
CASES = 100
FIGURE_3 = """\
With the inferred T_r of {seconds:.4f} s (the paper prints neither it nor the flops) the fit has
E_b = {joules:.2f} J and P_r = {watts:.2f} W, and the file is:"""
SIMGRID = """\
Five rounds of 3413 flop on Figure 3's platform: {time:.6g} s and {energy:.8g} J in SimGrid (5 s and 768.25 J
by hand). Largest relative difference of time or energy: {closed:.1e} over {cases} random kernels in rounds,
{listed:.1e} over {cases} random job lists of up to 40 pieces of work on up to 5 GPUs."""
EQUATION_8 = """\
A sum of errors that is not divided by n, as (8) is printed, would lie above WRE as soon as the errors have
one sign; a mean of their sizes lies between BRE and WRE, and so do the printed ones."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    shared = parser.parse_args(list(arguments)).shared
    data = shared / "data"
    known = all((data / "alavani_powerquant" / name).exists() for name, _ in POWERQUANT.values())
    text = page(
        [
            *figure_3(),
            *against_simgrid(),
            *printed_errors(shared / "facts" / "seeds_tables"),
            *textbook_section(textbook(data) if (data / FILE).exists() else []),
            *powerquant_section(
                powerquant(data) if known else [], powerquant(data, LONG_SECONDS) if known else []
            ),
            "## `data/measured`\n\nHolds no launches of one kernel with three or more grids yet.",
        ]
    )
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def figure_3() -> list[str]:
    """Return the platform file of Figure 3, from measurements that its figures imply."""
    joules = 153.65 * ROUND_SECONDS
    runs = [Sample(14 * n, n * ROUND_SECONDS, joules / ROUND_SECONDS) for n in (1, 2, 10)]
    model = fit(runs, 14, 29.4, Form.ROUNDS)
    xml = platform_xml([Host("GPU", (block_state(model, 1024),), off_watts=10.0)])
    return [
        "## Figure 3: the platform file",
        FIGURE_3.format(seconds=ROUND_SECONDS, joules=model.joules_per_block, watts=model.round_watts),
        f"```xml\n{xml}```",
        "The paper's attributes: speed 3413f, wattage_per_state 29.4:153.65, wattage_off 10.",
    ]


def against_simgrid() -> list[str]:
    """Return how closed form and own simulation compare with SimGrid."""
    title = "## Closed form and own simulation beside SimGrid"
    if simgrid.interpreter() is None:
        return [title, "SimGrid is not installed here: nothing compared."]
    paper = simgrid.run([Host("GPU", (State(3413.0, 29.4, 153.65),), 10.0)], {"GPU": [(0.0, 0, 3413.0, 5)]})
    rng = random.Random(7)
    closed = max(_closed_difference(rng) for _ in range(CASES))
    listed = max(_list_difference(rng) for _ in range(CASES))
    return [
        title,
        SIMGRID.format(time=paper.time, energy=paper.energy, closed=closed, listed=listed, cases=CASES),
    ]


def _closed_difference(rng: random.Random) -> float:
    sms, slope, static = rng.randint(1, 144), 10 ** rng.uniform(-7, -1), rng.uniform(5, 100)
    power = static + rng.uniform(1, 500)
    runs = [Sample(sms * n, slope * sms * n, power) for n in (1, 3, 20)]
    model = fit(runs, sms, static, Form.ROUNDS)
    blocks, threads = rng.randint(1, 40 * sms), 32 * rng.randint(1, 32)
    host = Host("GPU", (block_state(model, threads),))
    work = [(0.0, 0, float(threads * sms), model.rounds(blocks))]
    found = simgrid.run([host], {"GPU": work})
    pairs = (found.time, model.time(blocks)), (found.energy, model.energy(blocks))
    return max(abs(theirs / ours - 1) for theirs, ours in pairs)


def _list_difference(rng: random.Random) -> float:
    names = [rng.choice(("h200", "a100", "t4")) for _ in range(rng.randint(1, 5))]
    jobs = [
        Job(
            f"job {i}",
            Fixed(10 ** rng.uniform(-3, 2), rng.uniform(100, 600)),
            count=rng.randint(1, 4),
            arrival=rng.uniform(0, 50),
            every=rng.uniform(0, 5),
            gpus=(find(rng.choice(names)).name,) if rng.random() < 0.3 else (),
        )
        for i in range(rng.randint(1, 10))
    ]
    ours = simulate(jobs, one_node([find(name) for name in names]), _no_kernels)
    found = simgrid.run(hosts(ours), tasks(ours))
    pairs = (found.time, ours.time.value), (found.energy, ours.energy.value)
    return max(abs(theirs / own - 1) for theirs, own in pairs)


def _no_kernels(job: Job) -> NoReturn:
    raise AssertionError(f"{job.name} needs no prediction")


def printed_errors(folder: Path) -> list[str]:
    """Return Tables IV and V with whether BRE ≤ ARE ≤ WRE: so it must be where ARE is a mean of sizes."""
    parts = ["## Tables IV and V: equation (8)", EQUATION_8]
    for number, gpu in ((4, "Tesla M2075"), (5, "Tesla K20Xm")):
        path = folder / f"boughzala_{number}.csv"
        if not path.exists():
            return [*parts, "The tables are absent."]
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        ordered = [
            all(
                float(r[f"{w}_bre_pct"]) <= float(r[f"{w}_are_pct"]) <= float(r[f"{w}_wre_pct"]) for r in rows
            )
            for w in ("time", "energy")
        ]
        worst = [max(float(r[f"{w}_are_pct"]) for r in rows) for w in ("time", "energy")]
        mean = [sum(float(r[f"{w}_are_pct"]) for r in rows) / len(rows) for w in ("time", "energy")]
        parts.append(
            f"- {gpu}, {len(rows)} kernels: BRE ≤ ARE ≤ WRE in {'' if all(ordered) else 'not '}every row. "
            f"Largest ARE {worst[0]:.2f} % (time) and {worst[1]:.2f} % (energy), mean over kernels "
            f"{mean[0]:.2f} % and {mean[1]:.2f} %."
        )
    return parts


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
