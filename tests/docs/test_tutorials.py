"""Every example of the tutorials and of the README runs from an empty folder and shows what the page says.

``WARPWATT_DOCS_UPDATE=1 pytest tests/docs`` writes what they show now into the pages; elided lines stay so.
``make tutorials`` runs them with nothing but the wheel, ``make twice`` twice on one cache in which everything
is kept: the second time every command says what it said the first time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import warpwatt
from tests.docs.examples import commands, examples, missing, refreshed, shape
from warpwatt.commands.main import main
from warpwatt.emulate import analysis, kept_executions

ROOT = Path(__file__).parents[2]
PACKAGE = Path(warpwatt.__file__).parents[1]
PAGES = [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "README.md"]
UPDATE = bool(os.environ.get("WARPWATT_DOCS_UPDATE"))
TWICE = "WARPWATT_TWICE" in os.environ
SAID: dict[tuple[str, int], str] = {}
"""What the commands of a page said the first time."""
REFRESH = "WARPWATT_DOCS_UPDATE=1 pytest tests/docs writes what is shown now"


@pytest.fixture
def folder(request, monkeypatch):
    """Return an empty folder: always the same, so that compiles are remembered."""
    place = (
        Path(tempfile.gettempdir())
        / f"warpwatt-docs-{os.getuid()}"
        / request.node.callspec.params["page"].stem
    )
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("NO_COLOR", "1")
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs one command and returns exit code and output."""

    def run(words: list[str]) -> tuple[int, str]:
        if words[0] != "warpwatt":
            return _outside(words)
        monkeypatch.setattr(sys, "argv", words)
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        return code, out + err

    return run


def _outside(words: list[str]) -> tuple[int, str]:
    """Run a command that is not ours: pytest and the few that a tutorial needs."""
    assert words[0] in ("pytest", "cat"), f"examples run no {words[0]}"
    python = [sys.executable, "-m"] if words[0] == "pytest" else []
    plugin = ["-p", "no:cacheprovider", *_plugin()] if words[0] == "pytest" else []
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(
        [*python, *words, *plugin], capture_output=True, text=True, env=environment, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _plugin() -> list[str]:
    return [] if list(entry_points(group="pytest11", name="warpwatt")) else ["-p", "warpwatt.pytest_plugin"]


@pytest.fixture(scope="module", autouse=True)
def one_cache(tmp_path_factory):
    """Let all commands share a cache that is empty at first, where they run twice."""
    with pytest.MonkeyPatch.context() as patch:
        if TWICE:
            patch.setenv("WARPWATT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
            patch.setenv("WARPWATT_KEEP_EXECUTIONS", "1")
            patch.setenv("WARPWATT_KEEP_ANSWERS", "0")
            patch.setattr(kept_executions, "WORTH_SECONDS", 0.0)
        yield


@pytest.mark.parametrize("turn", range(1 + TWICE))
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page, turn, folder, command, capsys):
    if TWICE:
        analysis._analyse.cache_clear()
    text, updated, names = page.read_text(encoding="utf-8"), [], {"__name__": "__example__"}
    place, printed = 0, ""
    for example in examples(text):
        line = text.count("\n", 0, example.start)
        updated.append(text[place : example.start])
        body = example.body
        if example.file:
            (folder / example.file).write_text(example.body, encoding="utf-8")
        elif example.language == "console":
            body = _console(example, command, f"{page.name}:{line}")
        elif example.language == "python":
            exec(compile(example.body, f"{page}:{line}", "exec"), names)
            printed = capsys.readouterr().out
        elif example.language == "text":
            gone = None if UPDATE else missing(body, printed)
            assert gone is None, f"{page.name}:{line}: Python no longer prints\n  {gone}\nbut\n{printed}"
            body = printed if UPDATE else body
        else:
            raise AssertionError(f"{page.name}:{line}: what to do with {example.language}?")
        updated.append(body)
        place = example.end
    if UPDATE:
        page.write_text("".join([*updated, text[place:]]), encoding="utf-8")


def _console(example, command, where):
    """Run the commands of a block, compare, and return the block with what they show now."""
    lines = []
    found = commands(example.body)
    for number, one in enumerate(found):
        code, out = command(one.words)
        said = re.sub(r" in \d+\.\d+s", "", out)  # pytest's seconds
        assert SAID.setdefault((where, number), said) == said or not TWICE, f"{where}: {one.line}"
        last = number == len(found) - 1
        assert code == (example.exit_code if last else 0), f"{where}: {one.line} ended with {code}\n{out}"
        elided = "..." in one.shown
        if not UPDATE or elided:
            gone = missing(one.shown, out)
            assert gone is None, f"{where}: {one.line} no longer shows\n  {gone}\nbut\n{out}\n{REFRESH}"
        whole = f"{out.rstrip()}\n" if out else ""
        lines.append(f"$ {one.line}\n{refreshed(one.shown, out) if elided else whole}")
    return "".join(lines) if UPDATE else example.body


def test_shapes_tell_words_apart_and_numbers_not():
    assert shape("limited by DRAM   12.0 µs (1–2)") == shape("limited by DRAM 3 ms (10.5–22)")
    assert shape("limited by DRAM") != shape("limited by L2")
    assert missing("a 1\n...\nc", "a 2\nb\nc") is None
    assert missing("a 1\nd\nb", "a 2\nb\nc") == "d"
    assert missing("starts with...", "starts with 5 apples") is None
