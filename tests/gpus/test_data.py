"""The data themselves, the check that guards them, and what is derived from them."""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING

import pytest

from warpwatt.gpus import capability, catalog, find, find_many
from warpwatt.gpus.capabilities import versions
from warpwatt.gpus.check import check
from warpwatt.gpus.describe import describe, rows
from warpwatt.gpus.latencies import Latencies, all_tables, tables
from warpwatt.gpus.load import without_ecc
from warpwatt.gpus.power import static_power
from warpwatt.gpus.timings import measurements
from warpwatt.models.roofs import DRAM_EFFICIENCY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_the_packages_data_are_sound() -> None:
    assert [str(finding) for finding in check()] == []


def test_all_of_it_is_there() -> None:
    assert len(find_many("all")) == 156
    assert len(versions()) == 26
    assert sum(len(t.entries) + len(t.scoreboard) for t in all_tables()) == 1468
    assert sum(len(measurements(p.stem)[2]) for p in (catalog.DATA / "memory").glob("*.toml")) == 89
    assert sum(len(board.watts) for board in static_power()) == 27


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the data to spoil."""
    copy = tmp_path / "data"
    shutil.copytree(catalog.DATA, copy)
    for module in ("catalog", "capabilities", "check.catalog", "latencies", "timings", "power"):
        monkeypatch.setattr(f"warpwatt.gpus.{module}.DATA", copy)
    forget()
    yield copy
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Empty every cache of data."""
    from warpwatt.gpus import capabilities, latencies, load, timings

    caches = (catalog.index, catalog.packaged, catalog.read, capabilities.capability, capabilities._read)
    for cache in (*caches, latencies.table, timings.measurements, load._packaged):
        cache.cache_clear()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("boards/nvidia-h200.toml", "value = 3186", "value = 3286", "clock and bus give"),
        ("boards/nvidia-h200.toml", "value = 132,", "value = 1320,", "outside"),
        ("boards/nvidia-h200.toml", "value = 1500", "value = 2500", "base clock"),
        ("boards/nvidia-h200.toml", ', source = "inferred"', "", "has no source"),
        ("boards/nvidia-h200.toml", 'source = "inferred"', 'source = "rumour"', "no source called 'rumour'"),
        ("boards/nvidia-h200.toml", 'capability = "9.0"', 'capability = "9.1"', "9.1"),
        ("index.toml", '141GB", "H200"]', '141GB", "H100"]', "2 boards are called 'h100'"),
        ("boards/nvidia-h200.toml", 'kind = "documented"', 'kind = "certain"', "of kind 'certain'"),
        ("index.toml", "nvidia-h200 = ", "nvidia-h201 = ", "does not list boards/nvidia-h200.toml"),
        ("index.toml", "nvidia-h200 = ", "nvidia-h201 = ", "lists nvidia-h201"),
        ("capabilities/9.0.toml", "[0, 8, 16", "[8, 0, 16", "ascending"),
        (
            "capabilities/9.0.toml",
            "max_threads_per_sm = { value = 2048",
            "max_threads_per_sm = { value = 1024",
            "warps",
        ),
        (
            "capabilities/9.0.toml",
            '"9.0-ptxas-13-0-sass",',
            '"9.0-nothing",',
            "no latencies/9.0-nothing.toml",
        ),
        ("capabilities/9.0.toml", "232448", "233472", "more shared memory"),
        (
            "memory/nvidia-h200.toml",
            "dram_read_bw_gbs = 3888",
            "dram_read_bw_gbs = 5888",
            "above the theoretical",
        ),
        ("latencies/9.0-ptxas-13-0-sass.toml", "[cycles]", "[cycles]\nX = 0", "X takes 0 cycles"),
        ("power/tesla-m2075.toml", "29.4", '29.4, source = "x"', "not TOML"),
        (
            "alavani/tesla-k20.toml",
            'source = "table-3.3"',
            'source = "table-3.9"',
            "no source called 'table-3.9'",
        ),
    ],
)
def test_every_kind_of_damage_is_found(damaged: Path, file: str, old: str, new: str, said: str) -> None:
    path = damaged / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    findings = [str(finding) for finding in check()]
    assert any(said in finding for finding in findings), findings


def test_own_measurements_come_before_borrowed_ones() -> None:
    memory = find("h200").memory
    assert memory.dram_bandwidth == 3.888e12
    assert memory.launch_interval == pytest.approx(2.478e-6)
    assert "measured on" not in memory.sources["dram_bandwidth"]
    assert memory.sources["l2_latency"].endswith("measured on NVIDIA GH200 480GB")
    assert "NVIDIA GH200 480GB" in memory.borrowed_from
    assert find("h800 pcie").memory.sources["l2_latency"].count("measured on") == 0


def test_a_doubtful_number_is_not_used() -> None:
    """Abdelkhalik's 290 cycles contradict four other measurements of the A100's DRAM."""
    assert find("a100").memory.dram_latency == 574.3


def test_boards_of_one_chip_have_rates_of_their_own() -> None:
    """The L40 multiplies at half of the L40S's rate; no A100 has less of L2 than was seen of whole lines."""
    rate = "tensor_fp16_fma"
    l40, l40s = (find(name).capability.throughput[rate] for name in ("l40", "l40s"))
    assert 2 * l40 == l40s
    for name in ("a100", "a100-pcie-40gb", "a100-sxm4-80gb", "a100-pcie-80gb"):
        assert (find(name).memory.l2_bandwidth or 0.0) >= 4.2e12


@pytest.mark.parametrize(
    ("name", "teraflops"),
    [("a40", 149.7), ("l40", 181.05), ("l40s", 362.05), ("l20", 119.5), ("l4", 121), ("h20", 148),
     ("rtx 6000 ada", 364.2), ("rtx pro 6000", 503.8)],
)  # fmt: skip
def test_dense_half_precision_is_that_of_the_data_sheet(name: str, teraflops: float) -> None:
    """The L20 had the rate of its architecture, which is twice its own."""
    gpu = find(name)
    rate = gpu.capability.throughput["tensor_fp16_fma"]
    assert 2e-12 * rate * gpu.sm_count * gpu.boost_clock == pytest.approx(teraflops, rel=0.015)


def test_error_correction_in_line_costs_where_the_board_ships_with_it(user_gpus: Path) -> None:
    """The A40's own measurement is without: boards that borrow it do not pay."""
    a40, rtx = find("a40"), find("rtx 3070")
    assert a40.memory.dram_bandwidth == pytest.approx(0.85 * 680e9)
    assert "ECC leaves 85%" in a40.memory.sources["dram_bandwidth"]
    assert without_ecc(a40).memory.dram_bandwidth == pytest.approx(680e9)
    assert rtx.memory.dram_bandwidth == pytest.approx(680 / 695.8 * rtx.memory_bandwidth, rel=1e-3)
    assert find("l4").memory.sources["dram_bandwidth"].endswith("measured on GeForce RTX 4090")
    (user_gpus / "mine.toml").write_text(
        'name = "Mine"\ninherits = "a40"\n[memory]\ndram_read_bw_gbs = 600\n'
    )
    (user_gpus / "off.toml").write_text('name = "Off"\ninherits = "a40"\n[values]\necc_dram_share = 1\n')
    assert find("mine").memory.dram_bandwidth == 600e9
    assert find("off").memory.dram_bandwidth == pytest.approx(680e9, rel=1e-3)


def test_ecc_costs_a_p4_what_a_geforce_of_its_die_keeps() -> None:
    """Sums and relu of PyTorch stream 144 GB/s on a P4 (NeuSight), where Jia et al. read 162 of 192."""
    p4, geforce = find("p4"), find("gtx 1080")
    assert p4.memory.dram_bandwidth == pytest.approx(144e9, rel=0.01)
    assert geforce.memory.dram_bandwidth == pytest.approx(162 / 192 * geforce.memory_bandwidth, rel=0.01)


def test_hopper_reads_as_fast_as_was_measured_and_turing_has_an_l1_of_its_own() -> None:
    """GH200's printed read is slower than its copy; Volta's L1 is twice Turing's."""
    h100, b200 = find("h100"), find("b200")
    assert h100.memory.dram_bandwidth == 3231.54e9
    assert DRAM_EFFICIENCY * b200.memory_bandwidth > 6.48e12, "what FluidX3D reaches on it"
    for name in ("rtx 2060", "rtx 2080 ti", "t4"):
        assert find(name).memory.l1_bandwidth_per_sm_clock == 58.8


def test_boards_that_nobody_measured_stream_as_the_measured_ones_do_on_average() -> None:
    """The L4 was taken for 92 % of its peak and reaches 79: now ECC's share of what a relative keeps."""
    measured = [
        g for g in find_many("all") if g.memory.dram_bandwidth and not g.memory.borrowed("dram_bandwidth")
    ]
    shares = [(g.memory.dram_bandwidth or 0.0) / g.memory_bandwidth for g in measured]
    assert pytest.approx(sum(shares) / len(shares), abs=0.02) == DRAM_EFFICIENCY
    l4, lender = find("l4"), find("rtx 4090")
    kept = (lender.memory.dram_bandwidth or 0.0) / lender.memory_bandwidth
    assert l4.memory.dram_bandwidth == pytest.approx(0.85 * kept * l4.memory_bandwidth)
    assert 0.77 < (l4.memory.dram_bandwidth or 0.0) / l4.memory_bandwidth < 0.81


def test_several_measurements_give_their_middle() -> None:
    """The lower of the two middle ones: 541.5 and 571.4 cycles on the RTX 4090."""
    assert find("rtx 4090").memory.dram_latency == 541.5


def test_latency_of_the_gtx_980_is_that_of_its_own_clocks() -> None:
    """Equation (4) of Wang and Chu, not the rows of their Table II, whose core clock is a misprint."""
    memory = find("gtx 980").memory
    assert (memory.dram_latency, memory.dram_latency_clock) == (354.6, 1216e6)


def test_borrowed_bandwidth_is_scaled() -> None:
    sxm, pcie = find("v100"), find("v100 pcie")
    assert sxm.memory.dram_bandwidth is not None
    assert pcie.memory.dram_bandwidth is not None
    share = pcie.memory.dram_bandwidth / pcie.memory_bandwidth
    assert sxm.memory.dram_bandwidth == pytest.approx(share * sxm.memory_bandwidth)
    assert sxm.memory.h2d_bandwidth is None
    for memory in (gpu.memory for gpu in find_many("all")):
        assert (memory.l2_bandwidth or math.inf) >= (memory.dram_bandwidth or 0.0)


def test_memory_of_one_kind_lends_to_the_same_kind() -> None:
    """The data-centre Blackwell borrows from Hopper, which has HBM, not from a GeForce."""
    assert "GeForce" not in find("b200").memory.borrowed_from


def test_latencies_prefer_the_compiler_and_then_silicon() -> None:
    hopper = Latencies("9.0")
    assert (hopper["FFMA"], hopper["DFMA"]) == (4, 8)
    assert "ptxas" in hopper.source("FFMA")
    assert hopper.source("MUFU").endswith("of compute capability 7.5")
    kinds = {t.kind for version in versions() for t in tables(version)}
    assert kinds == {"ptxas_fixed", "measured", "dependent_cpi"}
    assert set(find("h200").latencies) == set(hopper)
    assert len(hopper) == len(list(hopper)) > 30


def test_thesis_outliers_come_last() -> None:
    assert Latencies("7.0")["fma.rn.f32"] == 4
    assert [t.source.citation.split()[0] for t in tables("7.0")][-1] == "Alavani"


def test_describe_has_a_source_for_every_known_number() -> None:
    for gpu in find_many("h200,k20,b300,gtx 780"):
        fields = describe(gpu)
        words = {"name", "die", "arch", "aliases", "note", "version"}
        unsourced = [f.name for f in fields if f.value is not None and not f.source and f.name not in words]
        assert unsourced == []
        assert {"board", "throughput", "memory", "latencies"} < {f.section for f in fields}


def test_rows() -> None:
    found = {row.name: row for row in rows()}
    assert len(found) == 156
    assert (found["NVIDIA H200"].memory_size, found["NVIDIA H200"].missing) == (141 * 2**30, ())


def test_kinds_of_sources_survive() -> None:
    assert capability("9.0").sources["throughput.fp32_add_mul_fma"].endswith("[from memory]")
    assert capability("9.0").sources["max_blocks_per_sm"].endswith("[documented]")
    assert find("h200").sources["l2_size"].endswith("[derived]")
