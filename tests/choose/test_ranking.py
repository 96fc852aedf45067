from __future__ import annotations

import csv
import math
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.choose.ranking import Candidate, rank
from warpwatt.core.errors import CompileError, InputError, LaunchError

times = st.one_of(st.none(), st.floats(1e-9, 1e3))


def candidate(number: int, time: float | None, **said: object) -> Candidate:
    return Candidate({"n": number}, time, 1.0, time, "LSU" if time else "", **said)  # type: ignore[arg-type]


@given(st.lists(times, max_size=30), st.one_of(st.floats(0.01, 1.0), st.integers(1, 40)), st.floats(1, 100))
def test_what_is_kept_is_the_best(found, keep, within):
    """Nothing pruned is better than anything kept; limits hold; what is unknown is kept; nothing is lost."""
    ranking = rank([candidate(i, time) for i, time in enumerate(found)], keep=keep, within=within)
    kept = [c.time for c in ranking.kept if c.time is not None]
    pruned = [c.time for c in ranking.pruned]
    assert sorted(cast("int", c.parameters["n"]) for c in (*ranking.kept, *ranking.pruned)) == list(
        range(len(found))
    )
    assert sum(c.time is None for c in ranking.kept) == found.count(None)
    assert max(kept, default=0) <= min(pruned, default=math.inf)
    assert kept == sorted(kept)
    if kept:
        allowed = math.ceil(keep * len(found)) if isinstance(keep, float) else keep
        assert len(kept) <= max(1, allowed)
        assert max(kept) <= max(within, 1) * min(kept)


def test_causes():
    best = Candidate({"n": 0}, 1.0, 1.0, 1.0, "DRAM bandwidth", occupancy=1.0)
    others = [
        Candidate({"n": 1}, 2.0, 1.0, 2.0, "latency (Wait)", {"Wait": 0.5}, 0.25, "registers"),
        Candidate({"n": 2}, 3.0, 1.0, 3.0, "LSU", {"LG Throttle": 0.4}, 1.0, "warps", local=64),
        Candidate({"n": 3}, 4.0, 1.0, 4.0, "LSU", {"LG Throttle": 0.4}, 0.25, "warps"),
        Candidate.failed({"n": 4}, LaunchError("too many threads")),
        Candidate.failed({"n": 5}, CompileError("ptxas: uses too much shared data")),
        Candidate.failed({"n": 6}, CompileError("no such header")),
    ]
    ranking = rank([*others, best], keep=1)
    assert ranking.causes() == {
        "cannot launch": 2,
        "too few warps to hide latency, limited by registers": 1,
        "local memory: spilled registers or a stack": 1,
        "LSU": 1,
    }
    assert [c.parameters["n"] for c in ranking.kept] == [0, 6]
    text = str(ranking)
    assert "7 configurations ranked by predicted time: 2 to run, 5 pruned" in text
    assert "not predicted, so kept: 1" in text


def test_objectives():
    fast, thrifty = Candidate({"n": 0}, 1.0, 9.0, 9.0), Candidate({"n": 1}, 2.0, 1.0, 2.0)
    assert rank([fast, thrifty], "time").kept[0] is fast
    assert rank([fast, thrifty], "energy").kept[0] is thrifty
    assert rank([fast, thrifty], "edp").kept[0] is thrifty


def test_file(tmp_path):
    ranking = rank([candidate(0, 2.0), candidate(1, 1.0, occupancy=0.5), candidate(2, None)], keep=1)
    ranking.save(tmp_path / "r.csv")
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [(row["n"], row["rank"], row["decision"]) for row in rows] == [
        ("1", "1", "run"),
        ("0", "2", "pruned"),
        ("2", "3", "run"),
    ]
    assert float(rows[0]["time_s"]) == 1.0
    assert rows[1]["ratio"] == "2"
    with pytest.raises(InputError, match="cannot write"):
        ranking.save(tmp_path / "absent" / "r.csv")


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"keep": math.nan}, {"within": 0.5}, {"objective": "beauty"}])
def test_impossible_wishes(wrong):
    with pytest.raises(InputError):
        rank([], **wrong)


def test_nothing_to_rank():
    assert str(rank([])) == "no configurations"
