"""The features of the papers' worked example, and what must hold for every kernel and launch."""

from __future__ import annotations

import math
import subprocess
import sysconfig
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import InputError, UnsupportedGpuError
from warpwatt.core.execution import Execution
from warpwatt.core.launch import Dim3, Launch
from warpwatt.core.program import Resources
from warpwatt.gpus import find, occupancy
from warpwatt.isa.ptx import lower, parse
from warpwatt.published.alavani.features import NAMES, Convention, Features, equations, extract

HERE = Path(__file__).parent
NN = HERE / "data" / "nn_sm_35.ptx"
NN_SOURCE = HERE.parents[2] / "examples" / "published" / "nn.cu"
NN_RESOURCES = Resources(registers=7)

# The row of the released K20 table: benchmark NN, kernel euclid, 168 blocks of 256 threads.
RELEASED_NN = {
    "comp_inst_kernel": 19,
    "comp_inst_sm": 38,
    "comp_lat_sm": 1256,
    "avg_comp_lat": 33.0526,
    "glob_inst_kernel": 8,
    "glob_inst_sm": 6,
    "glob_load_sm": 4,
    "glob_store_sm": 2,
    "glob_lat_sm": 1890,
    "avg_glob_lat": 315,
    "shar_inst_kernel": 0,
    "misc_inst_kernel": 2,
    "misc_inst_sm": 126,
    "branch": 2,
    "inst_issue_cycles": 112,
    "waves": 13,
    "sm_active": 256,
    "n_warps": 5.25,
    "total_threads": 43008,
}


def features(
    text: str, grid: int, block: int, gpu: str = "Tesla K20", convention: Convention = Convention.PUBLISHED
) -> Features:
    module = parse(text)
    program = lower(module, "euclid")
    launch = Launch(Dim3(grid), Dim3(block))
    times = (float(launch.warps),) * len(program.instructions)
    execution = Execution(program, launch, times, (32.0,) * len(times))
    board = find(gpu)
    resident = occupancy(board, NN_RESOURCES, launch)
    return extract(program, execution, NN_RESOURCES, launch, board, resident, convention)


@pytest.mark.parametrize("name", RELEASED_NN)
def test_nn_is_the_released_row(name: str) -> None:
    found = asdict(features(NN.read_text(), 168, 256))
    assert found[name] == pytest.approx(RELEASED_NN[name], rel=1e-4)


def test_nn_penalties_follow_from_the_released_row() -> None:
    found = features(NN.read_text(), 168, 256)
    # wtotal = 2 for 43008 threads; glob_lat_sm / glob_inst_sm = 315.02
    assert found.cache_penalty == pytest.approx(43008 * 6 / (2 * 1310720 / 4) * 315.02, rel=1e-4)
    rate = 76363.8 * (1.04 - math.exp(-0.00021342 * 6))
    assert found.glb_penalty == pytest.approx(math.ceil(43008 / 416) * 416 * 6 * 2.6 / rate)
    assert found.sh_penalty == 0


@pytest.mark.parametrize("convention", Convention)
def test_thesis_example_has_three_waves_and_57_compute_instructions(convention: Convention) -> None:
    found = features(NN.read_text(), 78, 1024, convention=convention)
    assert found.comp_inst_sm == 57
    assert found.waves == (3 if convention is Convention.THESIS else 6)


def test_thesis_convention_follows_the_printed_equations() -> None:
    found = features(NN.read_text(), 78, 1024, convention=Convention.THESIS)
    assert (found.glob_inst_kernel, found.misc_inst_kernel, found.misc_inst_sm) == (3, 2, 6)
    assert found.sm_active == 13
    assert found.n_warps == 64
    assert found.total_inst == 57 + 9 + 6
    assert found.inst_issue_cycles == 78 * 1024 / (4 * 32) * 72 / 8
    # the illustration divides the latency of all waves by the instructions of the kernel
    assert found.avg_comp_lat == pytest.approx(found.comp_lat_sm / 19)
    assert found.avg_misc_lat == 3 * 10


@pytest.mark.toolchain
@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
def test_todays_compiler_gives_the_counts_of_the_released_row(target: str, tmp_path: Path) -> None:
    nvcc = Path(sysconfig.get_paths()["purelib"]) / "nvidia" / "cu13" / "bin" / "nvcc"
    output = tmp_path / "nn.ptx"
    command = [str(nvcc), "-ptx", f"-arch={target}", str(NN_SOURCE), "-o", str(output)]
    subprocess.run(command, check=True, env={"PATH": "/usr/bin:/bin"})
    ours, theirs = features(output.read_text(), 168, 256), features(NN.read_text(), 168, 256)
    assert ours == theirs


def test_there_are_the_32_names_of_the_table() -> None:
    assert len(NAMES) == 32
    assert {"shar_inst_kernel", "inst_issue_cycles", "grid_size"} <= set(NAMES)


def test_v100_has_no_throughput_fits_and_borrows_none() -> None:
    found = features(NN.read_text(), 168, 256, gpu="Tesla V100 SXM2 16GB")
    assert found.glb_penalty is None
    assert found.sh_penalty is None
    # vecAdd-like accesses: 452 per load, 270 per store; one wave on 80 SMs
    assert found.glob_lat_sm == 2 * 452 + 270


def test_published_convention_refuses_gpus_without_released_table() -> None:
    for gpu in ("h200", "Tesla K20Xm"):
        with pytest.raises(UnsupportedGpuError, match="no released features"):
            features(NN.read_text(), 168, 256, gpu=gpu)


def test_an_execution_of_another_program_is_refused() -> None:
    text = NN.read_text()
    first, second = (lower(parse(each), "euclid") for each in (text, text.replace("sqrt.rn", "sqrt.approx")))
    launch = Launch(Dim3(13), Dim3(256))
    execution = Execution(
        second, launch, (1.0,) * len(second.instructions), (32.0,) * len(second.instructions)
    )
    gpu = find("Tesla K20")
    with pytest.raises(InputError, match="not of ptx euclid"):
        extract(first, execution, NN_RESOURCES, launch, gpu, occupancy(gpu, NN_RESOURCES, launch))


def test_shared_memory_and_its_penalty() -> None:
    text = NN.read_text().replace(
        "sqrt.rn.f32 \t%f9, %f8;", "st.shared.f32 [%r8], %f8;\n\tld.shared.f32 %f9, [%r8];"
    )
    small, large = (features(text, blocks, 256) for blocks in (16, 32))
    assert (small.shar_inst_kernel, small.shar_inst_sm, small.shar_lat_sm) == (2, 2, 72)
    assert small.sh_penalty is not None
    assert large.sh_penalty == pytest.approx(2 * 2.125 * small.sh_penalty)  # conflicts from 4096 threads on
    thesis = features(text, 16, 256, convention=Convention.THESIS)
    rate = 823761.8 * (1 - math.exp(-0.000013830 * 2))
    assert thesis.sh_penalty == pytest.approx(16 * 256 / (32 * 13) * 4 / rate * 2)


def test_thesis_convention_names_what_it_borrows() -> None:
    assert features(NN.read_text(), 168, 256, convention=Convention.THESIS).assumptions == ()
    elsewhere = features(NN.read_text(), 168, 256, gpu="h200", convention=Convention.THESIS)
    assert any("latencies of Tesla V100" in text for text in elsewhere.assumptions)


def test_loops_expand_the_counts_of_a_wave_but_not_of_the_text() -> None:
    program = lower(parse(NN.read_text()), "euclid")
    launch = Launch(Dim3(13), Dim3(256))
    times = [10.0 * launch.warps if i.memory is not None else launch.warps / 2 for i in program.instructions]
    execution = Execution(program, launch, tuple(times), (32.0,) * len(times))
    gpu = find("Tesla K20")
    found = extract(
        program, execution, NN_RESOURCES, launch, gpu, occupancy(gpu, NN_RESOURCES, launch), Convention.THESIS
    )
    assert (found.glob_inst_kernel, found.glob_inst_sm) == (3, 30)
    assert found.comp_inst_sm == found.comp_inst_kernel == 19  # a block that half the warps reach counts once


@settings(max_examples=200)
@given(
    blocks=st.integers(1, 10**5),
    size=st.integers(1, 1024),
    sms=st.integers(1, 144),
    limit=st.sampled_from([1024, 1536, 2048]),
)
def test_waves_are_those_of_the_printed_loop(blocks: int, size: int, sms: int, limit: int) -> None:
    remaining, waves = -(-blocks * size // sms), 0
    while remaining > 0:
        remaining -= limit
        waves += 1
    assert equations.pfea_waves(blocks, size, sms, limit) == waves


# Rows of the released tables: threads, global instructions, sum of their latencies, wtotal, penalty.
RELEASED_CACHE = [
    pytest.param(16384, 473, 170618 / 473, 2, 1310720, 4265.45, id="K20 alignedTypes"),
    pytest.param(2048, 2, 301, 1, 1310720, 3.7625, id="K20 div"),
    pytest.param(204800, 65632, 487.908825, 7, 2097152, 1786966.071, id="M60 MatrixMul"),
    pytest.param(512, 11, 4244, 1, 6291456, 15.19661458, id="V100 cdpSimpleQuickSort, total latency"),
]


@pytest.mark.parametrize(("threads", "glob", "latency", "waves", "l2", "penalty"), RELEASED_CACHE)
def test_cache_penalty_of_released_rows(
    threads: int, glob: int, latency: float, waves: int, l2: int, penalty: float
) -> None:
    assert equations.cache_penalty(threads, glob, waves, l2, 4, latency) == pytest.approx(penalty, rel=1e-4)
