"""GPU files of the user's own: inheritance, precedence, and every mistake a typed error with its line."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpwatt.core.errors import ParseError, UnknownGpuError, WarpWattError
from warpwatt.gpus import find, find_many, names
from warpwatt.gpus.catalog import DATA, entries
from warpwatt.gpus.check import check

if TYPE_CHECKING:
    from pathlib import Path

LAB = """
name = "Lab H200"
aliases = ["lab"]
inherits = "NVIDIA H200"

[values]
power_limit_w = 500
boost_clock_mhz = { value = 1700, source = "sticker" }

[memory]
dram_latency_cycles = 700

[sources]
sticker = "label on the rack"
"""


def test_inherit_and_override(user_gpus: Path) -> None:
    (user_gpus / "lab.toml").write_text(LAB)
    gpu, parent = find("lab"), find("h200")
    assert (gpu.name, gpu.power_limit, gpu.boost_clock) == ("Lab H200", 500, 1.7e9)
    assert (gpu.sm_count, gpu.l2_size, gpu.capability) == (parent.sm_count, parent.l2_size, parent.capability)
    assert gpu.memory.dram_latency == 700
    assert gpu.memory.l2_bandwidth is not None
    assert gpu.sources["boost_clock"] == "label on the rack [user]"
    assert "lab.toml" in gpu.sources["power_limit"]
    assert gpu.sources["sm_count"] == parent.sources["sm_count"]
    assert names()[-1] == "Lab H200"
    assert gpu.name in {g.name for g in find_many("all")}
    assert check() == []


def test_a_users_file_replaces_the_packages(user_gpus: Path) -> None:
    (user_gpus / "h200.toml").write_text(
        'name = "NVIDIA H200"\ninherits = "NVIDIA H200"\n[values]\nsm_count = 100\n'
    )
    assert find("nvidia h200").sm_count == 100
    assert find("nvidia h200").l2_size == 62914560
    assert names().count("NVIDIA H200") == 1


def test_directories_come_before_the_configuration(
    user_gpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    configured = tmp_path / "config" / "warpwatt" / "gpus"
    configured.mkdir(parents=True)
    text = 'name = "Mine"\ninherits = "h200"\n[values]\nsm_count = {}\n'
    (configured / "mine.toml").write_text(text.format(1))
    assert find("mine").sm_count == 1
    (user_gpus / "mine.toml").write_text(text.format(2))
    assert find("mine").sm_count == 2


def test_a_changed_file_is_read_again(user_gpus: Path) -> None:
    import os

    path = user_gpus / "mine.toml"
    for count in (1, 2):
        path.write_text(f'name = "Mine"\ninherits = "h200"\n[values]\nsm_count = {count}\n')
        os.utime(path, ns=(count * 10**9, count * 10**9))
        assert find("mine").sm_count == count


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("name = ", 1, "not TOML"),
        ('name = "A"\nname = "B"', 2, "not TOML"),
        ("", None, "'name' is missing"),
        ("name = 3", 1, "not a string"),
        ('name = "A"\naliases = "b"', 2, "not a list"),
        ('name = "A"\nsm_count = 3', 2, "unknown key 'sm_count'"),
        ('name = "A"\n', None, "'arch' is missing"),
        ('name = "A"\ninherits = "no such"', 2, "inherits from no GPU called 'no such'"),
        ('name = "A"\ninherits = "A"', 2, "inherits from no GPU called 'A'"),
        ('name = "A"\ninherits = "h200"\ncapability = "9.9"', 3, "9.9"),
        ('name = "A"\ninherits = "h200"\nmemory_from = ["nowhere"]', 3, "no measurements of 'nowhere'"),
        ('name = "A"\ninherits = "h200"\nvalues = 3', 3, "not a table"),
        ('name = "A"\ninherits = "h200"\n[values]\nsm_cuont = 3', 4, "unknown key 'sm_cuont'"),
        ('name = "A"\ninherits = "h200"\n[values]\nsm_count = "many"', 4, "not a whole number"),
        ('name = "A"\ninherits = "h200"\n[values]\nsm_count = true', 4, "not a whole number"),
        ('name = "A"\ninherits = "h200"\n[values]\nsm_count = -4', 4, "below 1"),
        ('name = "A"\ninherits = "h200"\n[values]\nboost_clock_mhz = nan', 4, "not a positive number"),
        ('name = "A"\ninherits = "h200"\n[values]\nboost_clock_mhz = inf', 4, "not a positive number"),
        ('name = "A"\ninherits = "h200"\n[values]\nboost_clock_mhz = [1]', 4, "not a number"),
        ('name = "A"\ninherits = "h200"\n[values]\nmemory_type = 5', 4, "not a string"),
        ('name = "A"\ninherits = "h200"\n[values]\nl1_shared_unified = 1', 4, "not true or false"),
        (
            'name = "A"\ninherits = "h200"\n[values]\nsm_count = { value = 3, source = "x" }',
            4,
            "no source called 'x'",
        ),
        ('name = "A"\ninherits = "h200"\n[values]\nsm_count = { source = "x" }', 4, "has no value"),
        ('name = "A"\ninherits = "h200"\n[capability_values]\nlanes = 3', 4, "unknown key 'lanes'"),
        ('name = "A"\ninherits = "h200"\n[memory]\ndram_latency_cycles = 0', 4, "not a positive number"),
        (
            'name = "A"\narch = "X"\ncapability = "9.0"\n[values]\nsm_count = 3',
            4,
            "boost_clock_mhz is missing",
        ),
    ],
)
def test_mistakes_name_file_and_line(user_gpus: Path, text: str, line: int | None, said: str) -> None:
    path = user_gpus / "bad.toml"
    path.write_text(text)
    with pytest.raises(ParseError) as error:
        find("A")
    assert error.value.exit_code == 1
    assert said in str(error.value)
    assert (error.value.file, error.value.line) == (str(path), line)
    assert any("bad.toml" in finding.file for finding in check())


def test_two_files_that_inherit_from_each_other(user_gpus: Path) -> None:
    (user_gpus / "a.toml").write_text('name = "A"\ninherits = "B"\n')
    (user_gpus / "b.toml").write_text('name = "B"\ninherits = "A"\n')
    with pytest.raises(ParseError, match="inherits"):
        find("A")


def test_not_text_and_not_a_file(user_gpus: Path) -> None:
    (user_gpus / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParseError, match="not UTF-8"):
        find("h200")
    (user_gpus / "a.toml").unlink()
    (user_gpus / "b.toml").mkdir()
    with pytest.raises(ParseError, match="cannot be read"):
        find("h200")


def test_a_missing_directory_is_no_mistake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPWATT_GPUS", f"{tmp_path / 'none'}:")
    assert find("h200").sm_count == 132
    with pytest.raises(UnknownGpuError):
        find("mine")


scalars = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.text(max_size=8), st.lists(st.integers(), max_size=2)
)
KEYS = [
    "name",
    "aliases",
    "inherits",
    "arch",
    "capability",
    "values",
    "memory",
    "memory_from",
    "sources",
    "note",
]
INNER = [
    "sm_count",
    "boost_clock_mhz",
    "memory_type",
    "l1_shared_unified",
    "source",
    "value",
    "dram_latency_cycles",
]


def toml(value: Any) -> str:
    """Write a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + "}"
    return repr(value)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        scalars
        | st.dictionaries(st.sampled_from(INNER), scalars | st.dictionaries(st.sampled_from(INNER), scalars)),
    ),
    st.booleans(),
)
def test_any_file_is_a_gpu_or_a_typed_error(user_gpus: Path, data: dict[str, Any], derived: bool) -> None:
    data = {"name": "Fuzz", "inherits": "h200", **data} if derived else data
    path = user_gpus / "fuzz.toml"
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in data.items()))
    _found_or_refused(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_is_a_gpu_or_a_typed_error(user_gpus: Path, data: st.DataObject) -> None:
    raw = bytearray((DATA / "boards" / "nvidia-h200.toml").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = user_gpus / "fuzz.toml"
    path.write_bytes(bytes(raw))
    _found_or_refused(path)


def _found_or_refused(path: Path) -> None:
    with suppress(WarpWattError):  # nothing else may be raised
        for name in (*{entry.name for entry in entries() if entry.user}, "h200"):
            find(name)
    path.unlink()
