"""Names, aliases, prefixes and what is said when none fits."""

from __future__ import annotations

import random
import re
import statistics
import subprocess
import sys
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.core.errors import UnknownGpuError, UnsupportedGpuError, WarpWattError
from warpwatt.gpus import capability, default_clocks, find, find_many, missing, names
from warpwatt.gpus.catalog import DATA, entries, normalise, spellings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RAISED = ("GeForce", "Titan", "TITAN", "NVIDIA RTX ", "Quadro ")
"""Boards that raise their clock by themselves."""


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("h200", "NVIDIA H200"),
        ("H200 NVL", "NVIDIA H200 NVL"),
        ("rtx4090", "GeForce RTX 4090"),
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090"),
        ("nvidia rtx 4090", "GeForce RTX 4090"),
        ("v100", "Tesla V100 SXM2 16GB"),
        ("a100", "NVIDIA A100-SXM4-40GB"),
        ("a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB"),
        ("A100_SXM4_80GB", "NVIDIA A100-SXM4-80GB"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-80GB"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"),
        ("k20", "Tesla K20"),
        ("m60", "Tesla M60 (per GPU)"),
        ("titan x (pascal)", "TITAN X (Pascal)"),
        ("gb10", "NVIDIA GB10"),
        ("grid", None),
        ("rtx5080", "GeForce RTX 5080"),
        ("rtx4070", "GeForce RTX 4070"),
        ("RTX 4070 Ti SUPER", "GeForce RTX 4070 Ti SUPER"),
        ("NVIDIA GeForce RTX 3060 Laptop GPU", "GeForce RTX 3060 Laptop"),
        ("rtx 4060 mobile", "GeForce RTX 4060 Laptop"),
        ("rtx 5060 ti", "GeForce RTX 5060 Ti 16GB"),
        ("gtx 1050 mob", None),
        ("rtx 4080 su", None),
        ("gv100", "Quadro GV100"),
        ("gtx1650", "GeForce GTX 1650"),
        ("rtx2070super", "GeForce RTX 2070 SUPER"),
        ("rtx3050", "GeForce RTX 3050 8GB"),
        ("rtx3080ti", "GeForce RTX 3080 Ti"),
        ("rtx4060", "GeForce RTX 4060"),
        ("rtx4070super", "GeForce RTX 4070 SUPER"),
        ("rtx5070", "GeForce RTX 5070"),
        ("h20", "NVIDIA H20"),
        ("h800", "NVIDIA H800 SXM"),
        ("l20", "NVIDIA L20"),
        ("gh200", "NVIDIA GH200 480GB"),
    ],
)
def test_find(asked: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(UnknownGpuError):
            find(asked)
    else:
        assert find(asked).name == name


def test_every_name_and_alias_is_found_however_it_is_written() -> None:
    chance = random.Random(0)
    for entry in entries():
        for name in (entry.name, *entry.aliases):
            scrambled = "".join(
                chance.choice([c.upper(), c.lower()]) for c in name.replace(" ", chance.choice(" -_"))
            )
            for spelling in (scrambled, normalise(name), f"NVIDIA {name}", *spellings(name)):
                assert find(spelling).name == entry.name


def proposed(error: UnknownGpuError) -> list[str]:
    """Return the names that the hint of an error proposes."""
    listed = re.search(r"(?:did you mean|say which:) ([^?]*)", error.hint)
    return listed[1].split(", ") if listed else []


def spoilt_names() -> Iterator[str]:
    """Yield names of boards without their ends, without their beginnings, and with something more."""
    names = [name for entry in entries() for name in (entry.name, *entry.aliases)]
    for name in random.Random(0).sample(names, 40):
        yield from (name[:-1], name[: len(name) // 2], name[1:], name + " X", name + "0")


def test_a_name_means_its_board_or_proposes_names_that_work() -> None:
    """No beginning stands for a longer name: RTX 4070 is not the Ti."""
    known = {s for e in entries() for n in (e.name, *e.aliases) for s in spellings(n)}
    unknown = [name for name in dict.fromkeys(spoilt_names()) if not known.intersection(spellings(name))]
    assert len(unknown) > 100
    for name in unknown:
        with pytest.raises(UnknownGpuError) as error:
            find(name)
        assert error.value.exit_code == 3
        assert [find(n).name for n in proposed(error.value)] == proposed(error.value)


def test_a_beginning_lists_the_boards_that_begin_so() -> None:
    with pytest.raises(UnknownGpuError) as error:
        find("rtx 306")
    assert error.value.exit_code == 3
    assert proposed(error.value)[:3] == [
        "GeForce RTX 3060 12GB",
        "GeForce RTX 3060 Ti",
        "GeForce RTX 3060 Laptop",
    ]


def test_what_could_be_several_boards_lists_them(user_gpus: Path) -> None:
    for name in ("Tesla Lab", "GeForce Lab"):
        (user_gpus / f"{name}.toml").write_text(f'name = "{name}"\ninherits = "h200"\n')
    with pytest.raises(UnknownGpuError) as error:
        find("lab")
    assert proposed(error.value) == ["GeForce Lab", "Tesla Lab"]
    assert find("tesla lab").name == "Tesla Lab"


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("h20o", "H200"), ("rtx 4091", "RTX 4090"), ("tesla v10", "V100"), ("4090", "RTX 4090")],
)
def test_a_misspelt_name_gets_the_nearest(asked: str, meant: str) -> None:
    with pytest.raises(UnknownGpuError) as error:
        find(asked)
    assert meant in error.value.hint


@pytest.mark.parametrize("asked", ["", "  ", "nvidia", "!!", "geforce"])
def test_nothing_useful_is_no_gpu(asked: str) -> None:
    with pytest.raises(UnknownGpuError):
        find(asked)


@given(st.text(max_size=30))
def test_any_text_is_found_or_refused(text: str) -> None:
    try:
        found, refusal = find(text), None
    except WarpWattError as error:
        found, refusal = None, error
    assert (found and found.name in names()) or (refusal and refusal.exit_code == 3 and refusal.hint)


def test_find_many() -> None:
    assert [g.name for g in find_many("h200,a100, H200")] == ["NVIDIA H200", "NVIDIA A100-SXM4-40GB"]
    assert tuple(g.name for g in find_many("ALL")) == names()
    for text in ("", "h200,", "h200,nothing"):
        with pytest.raises(UnknownGpuError):
            find_many(text)


def test_every_board_can_be_predicted_for() -> None:
    assert {gpu.name: missing(gpu) for gpu in find_many("all") if missing(gpu)} == {}
    assert missing(replace(find("gh200"), power_limit=None)) == ("power_limit",)


def test_one_known_board_field_by_field() -> None:
    gpu = find("k20")
    assert (gpu.sm_count, gpu.boost_clock, gpu.memory_clock, gpu.memory_bandwidth) == (
        13,
        706e6,
        2.6e9,
        208e9,
    )
    assert (gpu.memory_size, gpu.l2_size, gpu.power_limit, gpu.capability.version) == (
        5 * 2**30,
        1310720,
        225,
        "3.5",
    )
    assert gpu.target == "sm_35"
    assert default_clocks(gpu).sm == 706e6
    assert default_clocks(gpu).spread == 0.0
    assert "Alavani" in gpu.sources["sm_count"]


def test_geforce_boards_boost_beyond_the_data_sheet_and_compute_with_slower_memory() -> None:
    for name in names():
        gpu, clocks = find(name), default_clocks(find(name))
        assert (clocks.spread > 0) == gpu.name.startswith(RAISED)
        assert gpu.boost_clock <= clocks.sm <= 1.25 * gpu.boost_clock or gpu.arch == "Kepler"
        assert 0.85 * gpu.memory_clock <= clocks.memory <= gpu.memory_clock
        assert (clocks.sm != gpu.boost_clock) <= gpu.name.startswith(("GeForce", "Tesla K40"))
    assert default_clocks(find("rtx 4060 laptop")).spread > 2 * default_clocks(find("rtx 4060")).spread
    assert "in games" in find("rtx 2060").sources["observed_clock"]
    assert default_clocks(find("rtx 2060")).memory == 6801e6


def test_boards_may_differ_from_their_capability() -> None:
    assert capability("3.5").fp64_lanes == 64
    gpu = find("gtx 780")
    assert (gpu.capability.fp64_lanes, gpu.capability.throughput["fp64_add_mul_fma"]) == (8, 8)
    assert "GeForce" in gpu.capability.sources["fp64_lanes"]


def test_capability_spellings() -> None:
    assert capability("9.0") == capability("sm_90") == capability("90") == capability("compute_90")
    assert capability("12.1").target == "sm_121"
    for wrong in ("", "9.9", "sm_", "../boards/x", "٩٠", "4.0"):
        with pytest.raises(UnsupportedGpuError):
            capability(wrong)


def test_finding_reads_few_files_and_imports_little() -> None:
    """One GPU needs its own files only; benchmarks say how long that takes."""
    program = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from warpwatt.gpus import find
find("h200")
print(sum(name.endswith(".toml") for name in opened))
assert "numpy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) <= 12


def test_boards_nobody_observed_run_as_others_of_their_generation() -> None:
    rows = tomllib.loads((DATA / "boost.toml").read_text())["architecture"]
    for architecture, row in rows.items():
        observed = [find(name).observed_clock or 0.0 for name in row["boards"]]
        assert {find(name).arch.split()[0] for name in row["boards"]} == {architecture}
        assert row["clock_mhz"] * 1e6 == pytest.approx(statistics.median(observed), rel=1e-3)
    assert default_clocks(find("rtx 3070")).sm == 1950e6
    assert default_clocks(find("rtx 3090")).sm == find("rtx 3090").boost_clock  # it meets its power limit
    assert default_clocks(find("rtx 3060 laptop")).sm == find("rtx 3060 laptop").boost_clock
    assert default_clocks(find("a10g")).sm == find("a10g").boost_clock
    assert default_clocks(find("k40")).sm == 745e6


def test_the_usual_clock_beats_the_data_sheet_where_a_board_is_left_out() -> None:
    usual, sheet = [], []
    for row in tomllib.loads((DATA / "boost.toml").read_text())["architecture"].values():
        clocks = {find(name).die: find(name) for name in row["boards"]}
        for die, gpu in clocks.items():
            others = [one.observed_clock or 0.0 for other, one in clocks.items() if other != die]
            if others:
                usual.append(abs(statistics.median(others) / (gpu.observed_clock or 0.0) - 1))
                sheet.append(abs(gpu.boost_clock / (gpu.observed_clock or 0.0) - 1))
    assert statistics.mean(usual) < 0.05 < 0.08 < statistics.mean(sheet)
