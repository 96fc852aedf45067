"""What starts make anew of the same texts, kept: :mod:`warpwatt.storage.start`."""

from __future__ import annotations

import dataclasses
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwatt.storage import expressions, start
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
    parse, compile_ = tomllib.loads, expressions.compiling().compile
    with pytest.raises(tomllib.TOMLDecodeError), keeping_start("verb"):
        tomllib.loads("no TOML")
    assert tomllib.loads is parse
    assert expressions.compiling().compile is compile_
    assert not hasattr(dataclasses, "exec")


PATTERNS = ("a|(?P<b>b)(c)?", rb"\\x00+[^\xff]", "(?i:Å)x(?=y)", "[\\w-]{2,5}?$", "(?P<q>d)?(?P=q)", "(" * 9)


def compiled(pattern: str | bytes, flags: int) -> object:
    """Return an expression that is compiled now, or why not."""
    re.purge()
    try:
        found = re.compile(pattern, flags)
    except re.error as error:
        return str(error)
    return found


@given(st.sampled_from(PATTERNS), st.sampled_from([0, int(re.IGNORECASE), int(re.DOTALL)]))
def test_expressions_are_those_made_without(pattern, flags):
    plain = compiled(pattern, flags)
    for _ in range(2):
        with keeping_start("verb"):
            kept = compiled(pattern, flags)
        assert kept == plain
        if isinstance(plain, re.Pattern) and isinstance(kept, re.Pattern):
            assert (kept.flags, kept.groups, kept.groupindex) == (plain.flags, plain.groups, plain.groupindex)
            text = b"x\0\0y" if isinstance(pattern, bytes) else "abcx åXy"
            assert [m.span() for m in kept.finditer(text)] == [m.span() for m in plain.finditer(text)]


def test_the_second_start_compiles_no_expression(monkeypatch):
    with keeping_start("verb"):
        compiled("(?P<once>kept)+", 0)
    monkeypatch.setattr(expressions, "form", pytest.fail)
    with keeping_start("verb"):
        again = compiled("(?P<once>kept)+", 0)
    assert isinstance(again, re.Pattern)
    assert again.match("keptkept")["once"] == "kept"


def test_nothing_is_kept_where_re_is_another_inside(monkeypatch):
    """Another Python than this was written for compiles for itself."""
    monkeypatch.delattr(expressions.compiling(), "_code")
    assert expressions.compiling() is None
    with keeping_start("verb"):
        tomllib.loads(TEXT)
