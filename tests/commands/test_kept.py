"""The same question asked again gets the same answer, unless something it depends on has changed."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpwatt.commands.kept import keeping_answer, repeat_answer
from warpwatt.storage.cache import answer_cache

WORDS = ("predict", "kernel.cu")
Ask = Callable[..., "Said | None"]
Said = tuple[str, str]


def answer(code: int, output: str) -> None:
    """Do as a verb does."""
    sys.stdout.write("µs: " + Path("kernel.cu").read_text())
    sys.stderr.write("note")
    if output:
        Path(output).write_text("report")
    sys.exit(code)


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that asks, and returns what a kept answer says, or None."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPWATT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("WARPWATT_CACHE_SIZE", raising=False)
    monkeypatch.delenv("WARPWATT_KEEP_ANSWERS", raising=False)
    Path("kernel.cu").write_text("first")

    def ask(*words: str, code: int = 0, output: str = "") -> Said | None:
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        if not repeat_answer(words):
            with pytest.raises(SystemExit), keeping_answer(words):
                answer(code, output)
            return None
        return tuple(stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined,return-value]

    return ask


def test_what_was_said_is_said_again(ask: Ask):
    assert [ask(*WORDS), ask(*WORDS)] == [None, ("µs: first", "note")]
    assert answer_cache().count() == 1


def test_a_file_that_changed_is_read_again(ask: Ask):
    ask(*WORDS)
    Path("kernel.cu").write_text("other")
    assert [ask(*WORDS), ask(*WORDS)] == [None, ("µs: other", "note")]


def test_code_that_changed_answers_itself(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    module = tmp_path / "model.py"
    module.write_text("")
    fake = type(sys)("warpwatt.fake")
    fake.__file__ = str(module)
    monkeypatch.setitem(sys.modules, "warpwatt.fake", fake)
    ask(*WORDS)
    assert ask(*WORDS) is not None
    module.write_text("# changed")
    assert ask(*WORDS) is None


@pytest.mark.parametrize(
    ("name", "value"), [("NO_COLOR", "1"), ("WARPWATT_ANY", "x"), ("PATH", "/bin")], ids=lambda text: text
)
def test_another_environment_is_another_question(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    ask(*WORDS)
    monkeypatch.setenv(name, value)
    assert ask(*WORDS) is None


@pytest.mark.parametrize("words", [("predict", "-"), ("doctor",), ("run", "./a.out"), ()], ids=" ".join)
def test_what_does_more_than_answer_is_done_again(ask: Ask, words: tuple[str, ...]):
    assert [ask(*words), ask(*words)] == [None, None]


def test_failures_are_not_kept(ask: Ask):
    assert [ask(*WORDS, code=1), ask(*WORDS)] == [None, None]


def test_a_file_is_written_again_and_not_over_another(ask: Ask):
    words = (*WORDS, "-o", "report.html")
    ask(*words, output="report.html")
    assert ask(*words) is None  # it exists: the verb refuses
    forced = (*words, "--force")
    ask(*forced, output="report.html")
    Path("report.html").write_text("older")
    assert ask(*forced) == ("µs: first", "note")
    assert Path("report.html").read_text() == "report"


@pytest.mark.parametrize(("name", "value"), [("WARPWATT_KEEP_ANSWERS", "0"), ("WARPWATT_CACHE_SIZE", "0")])
def test_it_can_be_turned_off(ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    monkeypatch.setenv(name, value)
    assert [ask(*WORDS), ask(*WORDS)] == [None, None]
    assert not answer_cache().count()


def test_a_size_that_cannot_be_read_is_for_the_verb_to_say(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPWATT_CACHE_SIZE", "much")
    assert [ask(*WORDS), ask(*WORDS)] == [None, None]
