"""Coefficients of the component model from a power file: simulated runs whose true coefficients are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from warpwatt.commands.calibrate import calibrate as verb
from warpwatt.core.gpu import Clocks
from warpwatt.gpus import find
from warpwatt.lab.measure import powered
from warpwatt.lab.measure.calibration import calibrate, to_toml
from warpwatt.lab.measure.columns import POWER
from warpwatt.lab.measure.components import PoweredRun, predicted_watts
from warpwatt.lab.measure.corpus import load_program
from warpwatt.lab.measure.device import Sample
from warpwatt.lab.measure.powered import FEWEST, analyse_parts, powered_runs
from warpwatt.lab.measure.readings import counted_power
from warpwatt.lab.measure.results import ResultFile
from warpwatt.lab.measure.simulated_power import PowerSensors, PowerTrace, SensorBehaviour
from warpwatt.models.component.activity import Activity
from warpwatt.models.component.parameters import Coefficient, parameters, specification

if TYPE_CHECKING:
    from warpwatt.lab.measure.columns import Row

CORPUS = Path(__file__).parents[3] / "corpus"
GPU = find("h200")
WORK = {
    "saxpy": {"dram": 1.2e9, "l2": 1.2e9, "l1": 1.2e9, "issue": 1e7, "registers": 3.2e8},
    "daxpy": {"dram": 1.2e9, "l2": 1.2e9, "l1": 1.2e9, "issue": 2e7, "fp64": 3e8},
    "matmul_naive": {"fp32": 8e9, "l1": 3e9, "l2": 3e8, "issue": 5e8, "registers": 1.6e10},
    "matmul_tiled": {"fp32": 1.5e10, "shared": 1e10, "issue": 9e8, "registers": 3e10},
    "hash_murmur3": {"int": 1.2e10, "imad": 3e9, "issue": 6e8, "registers": 2e10},
    "black_scholes": {"sfu": 2e9, "fp32": 6e9, "issue": 4e8, "registers": 1.3e10},
    "pointer_chase": {"issue": 1e6, "l1": 3e7, "l2": 3e7, "dram": 3e7},
    "nbody_double": {"fp64": 8e9, "issue": 5e8, "registers": 1.6e10},
    "transpose_naive": {"l1": 2e9, "l2": 2e9, "dram": 8e8, "issue": 3e7},
    "reduction_shuffle": {"dram": 1e9, "l2": 1e9, "issue": 6e7, "shared": 1e9},
}
"""Program to what a launch of one millisecond does."""
TRUTH = {"dram": 1.4, "fp32": 0.6, "clocks": 1.8, "board": 1.3}
"""How the simulated board differs from what the specification says."""


def true_parameters():
    base = specification(GPU)
    changed = {n: Coefficient(c.value * TRUTH.get(n, 1.0), c.spread) for n, c in base.coefficients.items()}
    return replace(base, coefficients=changed)


def true_run(name, known):
    clocks = Clocks(GPU.boost_clock, GPU.memory_clock)
    run = PoweredRun(name, GPU, clocks, ((Activity(132.0, WORK[name], {}), 1e-3, 1.0),), 1.0)
    return replace(run, watts=predicted_watts(run, known))


def measured_watts(watts):
    """Return what simulated sensors say of two seconds at some power."""
    trace = PowerTrace(70.0)
    trace.add(1.0, 4.0, watts)
    sensors = PowerSensors(trace, SensorBehaviour())
    times = [2.0 + i * 0.004 for i in range(500)]
    found = counted_power([Sample(t, sensors.instant(t), sensors.counter_mj(t)) for t in times]).watts
    assert found is not None
    return found


def write(folder, names, **changed):
    """Write the power file of a campaign over some programs."""
    known = true_parameters()
    with ResultFile(folder / "power.csv", POWER) as file:
        for name in names:
            watts = measured_watts(true_run(name, known).watts)
            row = {
                "protocol": "power", "version": 1, "date": "2026-01-02T03:04:05", "gpu": "NVIDIA H200",
                "program": name, "family": name, "split": "fit", "size": "small", "data": "random", "rows": 1,
                "kernel": "all", "status": "ok", "power_w": watts, "run_s": 1e-3, "busy": 1.0,
                "sm_clock_before_hz": GPU.boost_clock, "sm_clock_after_hz": GPU.boost_clock,
            }  # fmt: skip
            file.append([{**row, **changed.get(name, {})}])


@pytest.fixture
def simulated(monkeypatch):
    """Analyses of the programs' launches that say what the simulated board did."""
    made = {
        name: ((Activity(132.0, amounts, {}, occupancy=1.0), 1.0, 1.0),) for name, amounts in WORK.items()
    }
    monkeypatch.setattr(powered, "analyse_parts", lambda program, size, gpu: made[program.name])


def test_a_users_runs_give_the_coefficients_of_their_board(simulated, tmp_path, monkeypatch):
    write(tmp_path, WORK)
    found = calibrate(tmp_path, CORPUS)
    assert (found.gpu, found.protocol) == ("NVIDIA H200", "power 1")
    folder = tmp_path / "gpus" / "calibrations"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(to_toml(found), encoding="utf-8")
    monkeypatch.setenv("WARPWATT_GPUS", str(folder.parent))
    mine = parameters(find("h200"))
    assert mine.calibrated
    for name in WORK:
        run = true_run(name, true_parameters())
        assert predicted_watts(run, mine) == pytest.approx(run.watts, rel=0.04)
    before = [abs(predicted_watts(r, specification(GPU)) / r.watts - 1) for r in _every()]
    assert max(before) > 0.1


def _every():
    return [true_run(name, true_parameters()) for name in WORK]


def test_too_few_programs_are_said_to_be_too_few(simulated, tmp_path):
    write(tmp_path, list(WORK)[: FEWEST - 1])
    found = calibrate(tmp_path, CORPUS)
    assert not found.constants
    assert any("fewer than" in text for text in found.missing)


def test_without_the_programs_it_says_what_it_needs(tmp_path):
    write(tmp_path, WORK)
    assert any("--corpus" in text for text in calibrate(tmp_path).missing)


@pytest.mark.parametrize(
    ("change", "why"),
    [({"status": "wrong"}, "status wrong"), ({"busy": 0.3}, "of the loop"), ({"power_w": None}, "missing")],
)
def test_rows_of_no_use_are_left_out_and_counted(simulated, tmp_path, change, why):
    write(tmp_path, WORK, saxpy=change)
    found = calibrate(tmp_path, CORPUS)
    assert any(why in text for text in found.missing)
    assert {one.points for one in found.constants} == {len(WORK) - 1}


def test_an_unknown_gpu_keeps_the_rest(simulated, tmp_path):
    write(tmp_path, WORK, **{name: {"gpu": "Simulated GPU"} for name in WORK})
    found = calibrate(tmp_path, CORPUS)
    assert any("Simulated GPU" in text for text in found.missing)


def test_a_program_of_the_corpus_is_analysed():
    program = load_program(CORPUS / "dense_linear_algebra" / "saxpy.toml")
    size = program.sizes[0]
    parts = analyse_parts(program, size, GPU)
    assert sum(share for _, share, _ in parts) == pytest.approx(1.0)
    assert sum(work.amounts["issue"] for work, _, _ in parts) > 0
    row: Row = {
        "program": "saxpy", "size": size.name, "status": "ok", "power_w": 300.0, "run_s": 1e-3, "busy": 0.9,
        "sm_clock_before_hz": 1e9, "sm_clock_after_hz": 2e9, "data": "zeros",
        "memory_clock_before_hz": None, "memory_clock_after_hz": None,
        "temperature_before_c": 40.0, "temperature_after_c": 60.0,
    }  # fmt: skip
    runs, left_out = powered_runs([row], {"saxpy": program}, GPU)
    assert not left_out
    assert runs[0].seconds == pytest.approx(1e-3)
    assert (runs[0].clocks.sm, runs[0].temperature_c) == (1.5e9, 50.0)
    assert runs[0].parts[0][2] < 1.0


def test_the_verb_fits_them(simulated, tmp_path):
    write(tmp_path, WORK)
    result = CliRunner().invoke(
        verb, [str(tmp_path), "-o", str(tmp_path / "x.toml"), "--corpus", str(CORPUS)]
    )
    assert result.exit_code == 0, result.output
    assert "component" in (tmp_path / "x.toml").read_text()
