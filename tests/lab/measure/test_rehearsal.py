"""A whole session without a GPU: microbenchmarks on a chip of known constants, killed, resumed, fitted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from dataclasses import replace

import pytest
from click.testing import CliRunner

from warpwatt.commands.calibrate import calibrate
from warpwatt.commands.measure import measure
from warpwatt.gpus.calibrations import load_calibration
from warpwatt.lab.measure.choice import PointChoice
from warpwatt.lab.measure.columns import MICRO
from warpwatt.lab.measure.results import read
from warpwatt.lab.measure.runner import Options, run
from warpwatt.lab.measure.simulated import INFO, Behaviour
from warpwatt.lab.measure.simulated_chip import Chip

CHIP = Chip()
MEMORY = CHIP.memory
SOME = (
    "micro fp32_fma_ilp", "micro special_sin_ilp", "micro chase_global_ca/latency/", "micro chase_constant",
    "micro atomic_shared_add", "micro barrier_block", "micro strided_4B", "micro shared_4B_16r0w",
    "micro stream_cg_16B_16r0w", "micro micro_empty/*256 threads", "micro host",
)  # fmt: skip
"""Patterns of the points from which the constants below come."""
GAP = 1e-6
"""Seconds between launches that every measured time of a launch includes."""


@pytest.fixture(scope="module")
def found(tmp_path_factory, corpus_folder):
    """Return the constants of a rehearsed session: measured by one command, fitted by another."""
    folder = tmp_path_factory.mktemp("rehearsal")
    chosen = [word for pattern in SOME for word in ("--only", pattern)]
    words = ["--simulate", "--corpus", str(corpus_folder), "--output", str(folder), *chosen]
    done = CliRunner().invoke(measure, words)
    assert done.exit_code == 0, done.output
    assert "0 left" in done.output
    assert "(35 ok)" in done.output
    words = [str(folder / INFO.slug), "-o", str(folder / "gpu.toml")]
    done = CliRunner().invoke(calibrate, words)
    assert done.exit_code == 0, done.output
    assert "<svg" in (folder / "gpu.html").read_text()
    return load_calibration(folder / "gpu.toml").constants


TRUE = {
    "latency.fp32_fma": CHIP.latency("fp32_fma"), "latency.special_sin": CHIP.latency("special_sin"),
    "throughput.fp32_fma": CHIP.peak("fp32_fma"), "throughput.special_sin": CHIP.peak("special_sin"),
    "latency.l1": MEMORY.latencies[0], "latency.l2": MEMORY.latencies[1], "latency.dram": MEMORY.latencies[2],
    "latency.constant_l1": MEMORY.constant_latencies[0], "latency.constant_l2": MEMORY.constant_latencies[1],
    "latency.atomic_shared_add_u32": MEMORY.atomics["shared"],
    "barrier_block.base": CHIP.barrier[0], "barrier_block.per_warp": CHIP.barrier[1],
    "conflict.per_word": MEMORY.conflict[1], "coalescing.base": MEMORY.coalescing[0],
    "coalescing.per_word": MEMORY.coalescing[1],
    "bandwidth.l2_stream_cg_16B_16r0w": MEMORY.l2_rate,
    "bandwidth.dram_stream_cg_16B_16r0w": MEMORY.dram_rate,
    "launch_batch.base": CHIP.launch[0] + GAP, "launch_graph.base": CHIP.launch[0] + GAP,
    "launch_seconds.per_block": CHIP.launch[1],
    "upload_pageable.per_byte": 1 / CHIP.transfer[1], "download_pinned.per_byte": 0.5 / CHIP.transfer[1],
    "context": CHIP.context_seconds, "power.idle": Behaviour().idle_watts,
    "power.constant": CHIP.constant_watts, "power.active_sm": CHIP.sm_watts,
    "energy.fp32_fma": CHIP.energy("fp32_fma"), "energy.special_sin": CHIP.energy("special_sin"),
    "energy.fp32_fma_zeros": CHIP.zeros * CHIP.energy("fp32_fma"),
    "energy.dram_stream_cg_16B_16r0w": MEMORY.joules_per_byte["dram"],
    "energy.l2_stream_cg_16B_16r0w": MEMORY.joules_per_byte["l2"],
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_the_chips_constants_come_back(found, name):
    """Within 2 %: half a percent of noise in each reading, and what sensors add."""
    assert found[name][0] == pytest.approx(TRUE[name], rel=0.02)


def test_ends_of_levels_and_peaks_of_warps_come_back(found):
    assert found["reach.l1"][0] == pytest.approx(MEMORY.l1_reach, rel=0.25)
    assert found["reach.l2"][0] == pytest.approx(INFO.l2_bytes, rel=0.25)
    peak = CHIP.peak("fp32_fma") * CHIP.latency("fp32_fma") / 32
    assert [found[f"peak_warps.fp32_fma_ilp{ilp}"][0] for ilp in (1, 2)] == [peak, peak / 2]


def test_another_chip_gives_other_constants(tmp_path, corpus_folder):
    chip = Chip(latencies={"fp32_fma": 9.0}, peaks={"fp32_fma": 48.0})
    choice = PointChoice(only=("micro fp32_fma_ilp1/latency", "micro fp32_fma_ilp3/throughput"))
    run(Options(corpus_folder, tmp_path, behaviour=Behaviour(chip=chip), choice=choice))
    rows = read(tmp_path / INFO.slug / "micro.csv", MICRO)
    assert next(row["value"] for row in rows if row["quantity"] == "latency") == pytest.approx(9.0, rel=0.01)
    assert max(row["value"] for row in rows if row["unit"] == "1/cycle") == pytest.approx(48.0, rel=0.01)


def test_microbenchmarks_are_killed_and_resumed_without_a_lost_or_doubled_row(tmp_path, corpus_folder):
    choice = PointChoice(only=("micro fp32_*_ilp1", "micro barrier"))
    slow = Options(
        corpus_folder, tmp_path / "killed", behaviour=Behaviour(real_seconds=0.05, noise=0.0), choice=choice
    )
    whole = replace(slow, output=tmp_path / "whole", behaviour=Behaviour(noise=0.0))
    context, kills, moment = multiprocessing.get_context("fork"), 0, 0.1
    while kills < 5:
        child = context.Process(target=run, args=(slow,))
        child.start()
        time.sleep(moment)
        if child.is_alive():
            os.kill(child.pid, signal.SIGKILL)
            kills += 1
        child.join()
        moment *= 1.0 if _rows(slow) else 1.3
        assert set(Counter(_rows(slow)).values()) <= {1}
    run(slow)
    run(whole)
    assert _rows(slow, "value") == _rows(whole, "value")


def _rows(options, *more):
    """Return what identifies the rows there are, sorted, with some of their other columns."""
    file = options.output / INFO.slug / "micro.csv"
    names = ("program", "quantity", "data", "launch", *more)
    return sorted(tuple(row[name] for name in names) for row in read(file, MICRO)) if file.exists() else []


def test_only_and_protocol_choose_what_is_prepared(tmp_path, corpus_folder):
    words = ["--corpus", str(corpus_folder), "--prepare", str(tmp_path / "p"), "--only", "time set*/small"]
    done = CliRunner().invoke(measure, words)
    assert done.exit_code == 0, done.output
    assert "1 of 3 programs" in done.output
    assert {file.stem for file in (tmp_path / "p").glob("*.cubin")} == {"set", "empty_kernel"}
    words = ["--corpus", str(corpus_folder), "--simulate", "--prepared", str(tmp_path / "p")]
    done = CliRunner().invoke(measure, [*words, "--output", str(tmp_path / "o"), "--protocol", "time"])
    assert "3 points" in done.output
    assert "6 not prepared" in done.output
    words = ["--corpus", str(corpus_folder), "--prepare", str(tmp_path / "m"), "--protocol", "micro"]
    done = CliRunner().invoke(measure, [*words, "--only", "fp32_fma_ilp1/"])
    assert {file.stem for file in (tmp_path / "m").glob("*.cubin")} == {"microbenchmarks", "empty_kernel"}
    words = ["--corpus", str(corpus_folder), "--simulate", "--prepared", str(tmp_path / "m")]
    done = CliRunner().invoke(measure, [*words, "--output", str(tmp_path / "o"), "--protocol", "micro"])
    assert "(8 ok" in done.output  # latency, throughput and the six quantities of the host
