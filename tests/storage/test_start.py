"""What starts make anew of the same texts, kept: :mod:`warpwatt.storage.start`."""

from __future__ import annotations

import dataclasses
import tomllib

import pytest

from warpwatt.storage import start
from warpwatt.storage.start import keeping_start

TEXT = "[table]\nnumbers = [1, 2.5]\n"


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path))


def point():
    """Return a data class that is made now, and what TOML holds that is read now."""

    @dataclasses.dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: float = 2.0

    return Point, tomllib.loads(TEXT)


@pytest.mark.parametrize("times", [1, 2])
def test_code_and_tables_are_those_made_without(times):
    for _ in range(times):
        with keeping_start("verb"):
            made, table = point()
    assert made(1) == made(1, 2.0) != made(2)
    assert repr(made(1)).endswith("Point(x=1, y=2.0)")
    assert hash(made(1)) == hash(made(1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        made(1).x = 2
    assert table == {"table": {"numbers": [1, 2.5]}}


def test_the_second_start_makes_nothing(monkeypatch):
    with keeping_start("verb"):
        point()
    monkeypatch.setattr(start, "_compiled", pytest.fail)
    monkeypatch.setattr(tomllib, "loads", pytest.fail)
    with keeping_start("verb"):
        point()


def test_another_verb_and_another_text_are_made(monkeypatch):
    with keeping_start("verb"):
        tomllib.loads(TEXT)
    monkeypatch.setattr(tomllib, "loads", lambda _: {"made": True})
    with keeping_start("another"):
        assert tomllib.loads(TEXT) == {"made": True}
    with keeping_start("verb"):
        assert tomllib.loads(TEXT + " ") == {"made": True}


def test_who_changes_a_table_changes_his_own():
    with keeping_start("verb"):
        tomllib.loads(TEXT)["table"].clear()
        assert tomllib.loads(TEXT)["table"]


def test_dates_are_not_kept():
    for _ in range(2):
        with keeping_start("verb"):
            assert tomllib.loads("day = 2026-11-23")["day"].year == 2026


def test_everything_is_as_before_afterwards():
    parse = tomllib.loads
    with pytest.raises(tomllib.TOMLDecodeError), keeping_start("verb"):
        tomllib.loads("no TOML")
    assert tomllib.loads is parse
    assert not hasattr(dataclasses, "exec")
