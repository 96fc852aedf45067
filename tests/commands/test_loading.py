"""What each verb loads: a budget that imports inside functions are there to keep."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpwatt.commands.main import VERBS

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY, PIPELINE = EXAMPLES / "saxpy.cu", EXAMPLES / "pipeline.toml"
SLOW = ("asyncio", "http", "multiprocessing", "ssl", "unittest")
"""Packages of the standard library that take long to load, too."""
PROGRAM = """
import json, sys
before = set(sys.modules)
sys.argv[0] = "warpwatt"
from warpwatt.commands.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""
PREDICT = {"click", "llvmlite", "numpy", "platformdirs"}
SHOW = {"rich"}


def loaded(*words: object) -> list[str]:
    """Return the modules that a run of the command line loads."""
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    anew = {**os.environ, "WARPWATT_KEEP_ANSWERS": "0"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=anew)
    assert done.returncode == 0, done.stderr
    modules: list[str] = json.loads(done.stderr.splitlines()[-1])
    return modules


def costly(modules: list[str]) -> set[str]:
    """Return the packages among modules that are neither ours nor quickly loaded ones of Python itself."""
    tops = {name.partition(".")[0] for name in modules}
    others = {name for name in tops - set(sys.stdlib_module_names) if not name.startswith("_")}
    return (others | tops.intersection(SLOW)) - {"warpwatt"}


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_loads_click_alone(verb):
    modules = loaded(verb, "--help")
    assert costly(modules) <= {"click", "platformdirs"}  # which says where the user's settings lie
    assert len(modules) <= 115


@pytest.mark.parametrize(
    ("words", "packages", "most"),
    [
        (["--version"], {"click"}, 80),
        (["--help"], {"click"}, 130),
        (["models"], {"click", "numpy", "platformdirs"}, 420),
        (["gpus"], {"click", "platformdirs", *SHOW}, 200),
        (["gpus", "show", "h200"], {"click", "platformdirs", *SHOW}, 200),
        (["doctor"], {"click", "platformdirs"}, 160),
        (["predict", SAXPY, "--gpu", "h200"], PREDICT | SHOW, 642),
        (["predict", SAXPY, "--gpu", "h200", "--format", "json"], PREDICT, 581),
        (["predict", SAXPY, "--gpu", "h200", "--format", "csv"], PREDICT, 571),
        (["predict", SAXPY, "--gpu", "h200", "--model", "power=component+learned"], PREDICT | SHOW, 644),
        (["predict", SAXPY, "--gpu", "k20", "--model", "power=alavani"], PREDICT | SHOW, 668),
        (["predict", PIPELINE, "--gpu", "h200"], PREDICT | SHOW, 642),
        (["explain", SAXPY, "--gpu", "h200"], PREDICT | SHOW, 642),
        (["compare", SAXPY, "--gpu", "h200/a100"], PREDICT | SHOW, 642),
        (
            ["sweep", SAXPY, "--gpu", "h200", "--clock", "1400,1500"],
            PREDICT | SHOW | {"multiprocessing"},
            666,
        ),
    ],
    ids=lambda value: " ".join(str(word) for word in value[:4]) if isinstance(value, list) else None,
)
def test_a_run_loads_no_more_than_it_needs(words, packages, most):
    modules = loaded(*words)
    assert costly(modules) <= packages
    assert len(modules) <= most


def test_what_starts_compilers_and_guesses_names_is_not_loaded_where_code_is_kept(monkeypatch):
    monkeypatch.setenv("WARPWATT_KEEP_EXECUTIONS", "0")
    words = ("predict", SAXPY, "--gpu", "h200")
    loaded(*words)
    assert not {"subprocess", "difflib"} & set(loaded(*words))


def test_a_package_too_many_is_seen():
    assert costly(["warpwatt.api", "json.decoder", "pandas.core", "asyncio.events", "_cffi"]) == {
        "asyncio",
        "pandas",
    }
