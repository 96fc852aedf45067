"""How right the power models are on public measurements, from the data sheet and after calibration.

Run ``python -m validation.power.models --data FOLDER --checkouts FOLDER`` from the repository root: the first
holds the public data sets (default ``../shared/data``), the second the sources that ``counters.toml`` and
``time_dvfs.toml`` name. Writes ``docs/validation/power_models.md``, ``fitted.toml`` of the component model
and the calibrations of the GPUs that were fitted.
"""

from __future__ import annotations

import argparse
import datetime
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.power.by_hand import GEMM, TUNER, VECTORS
from validation.power.cases import power_cases
from validation.power.judge import (
    Judged,
    board_factors,
    fit_shared,
    judge_calibrated,
    judge_floor,
    judge_specification,
    later_factors,
    same_program,
    with_random_data,
)
from validation.power.models_page import commit, page
from warpwatt.lab.measure.components import fit_components
from warpwatt.models.component.parameters import OWN, specification, with_readings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.power.by_hand import PowerCase

PAGE = ROOT / "docs" / "validation" / "power_models.md"
FITTED = ROOT / "src" / "warpwatt" / "models" / "component" / "fitted.toml"
CALIBRATIONS = ROOT / "src" / "warpwatt" / "gpus" / "data" / "calibrations"
FEWEST_PROGRAMS = 8
"""A GPU with fewer measured programs gets no calibration of its own."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it, and the fitted numbers of the package."""
    options = _options(arguments)
    if options.cache and options.cache.exists():
        cases, left_out = pickle.loads(options.cache.read_bytes())
    else:
        cases, left_out = power_cases(options.data, options.checkouts)
        if options.cache:
            options.cache.write_bytes(pickle.dumps((cases, left_out)))
    fitting = [case for case in cases if case.fits]
    values = fit_shared(fitting, without="")
    judged = Judged(judge_specification(cases), judge_calibrated(cases))
    random = judge_specification([with_random_data(case) for case in cases])
    floors = judge_floor(fitting, values)
    text = page(cases, judged, random, floors, values, left_out, options.analysed or commit())
    PAGE.write_text(text)
    print(text)
    if options.page_only:
        return
    FITTED.write_text(fitted_toml(values, own_factors(cases, values)))
    for gpu, file in _calibrated(fitting, values).items():
        (CALIBRATIONS / f"{gpu}.toml").write_text(file)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--checkouts", type=Path, default=ROOT.parent / "fetched")
    parser.add_argument("--cache", type=Path, help="keep the analysed cases there, and read them")
    parser.add_argument("--page-only", action="store_true", help="leave what the package holds as it is")
    parser.add_argument("--analysed", help="the commit that made the cache (default: this one)")
    return parser.parse_args(list(arguments))


def own_factors(cases: Sequence[PowerCase], values: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return what boards draw over what shared numbers say, by name; of boards outside the fit too.

    A board measured by the synthetic kernel alone gets none: that adds constants, which tells little.
    """
    fitting = [case for case in cases if case.fits]
    known = {case.gpu for case in fitting if case.data != TUNER}
    late = [case for case in cases if case.data in (GEMM, VECTORS)]
    fitted = {name: own for name, own in board_factors(fitting).items() if name in known}
    return dict(sorted({**fitted, **later_factors(late, values)}.items()))


def fitted_toml(values: Mapping[str, tuple[float, float]], boards: Mapping[str, float]) -> str:
    """Return the text of ``fitted.toml``: shared numbers with their errors, by table, and boards' factors."""
    lines = [
        "# Shared numbers of the component model fitted to public measurements; prior: component.toml.",
        "# Written by validation.power.models; sources and protocol: docs/validation/power_models.md",
    ]
    last = ""
    for name, (value, error) in values.items():
        table, _, key = name.partition(".")
        if table != last:
            lines += ["", f"[{table}]"]
            last = table
        lines.append(f"{key} = {{ value = {value:.4g}, error = {error:.3g} }}")
    lines += ["", f"[{OWN}]", *(f'"{name}" = {factor:.3f}' for name, factor in boards.items())]
    return "\n".join(lines) + "\n"


def _calibrated(cases: Sequence[PowerCase], values: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """Return file name to text of the calibration of every GPU with enough programs."""
    found = {}
    for name in sorted({case.gpu for case in cases}):
        own = [case for case in cases if case.gpu == name]
        if len({same_program(case.program) for case in own}) < FEWEST_PROGRAMS:
            continue
        gpu = own[0].measured.gpu
        fit = fit_components(
            [case.measured for case in own], gpu, with_readings(specification(gpu, values), gpu)
        )
        sources = ", ".join(sorted({case.data for case in own}))
        lines = [
            "# Component power model fitted to public measurements; written by validation.power.models.",
            f'gpu = "{name}"',
            f'date = "{datetime.datetime.now(tz=datetime.UTC).date()}"',
            f'protocol = "fit to published power ({sources})"',
        ]
        for constant, (value, error) in fit.constants().items():
            key = ".".join(f'"{part}"' if " " in part else part for part in constant.split("."))
            lines += ["", f"[{key}]", f"value = {value:.6g}", f"error = {error:.3g}"]
        file = name.lower().replace(" ", "-").replace("(", "").replace(")", "")
        found[file] = "\n".join(lines) + "\n"
    return found


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
